"""Who may do what with a system: access policies, loans, and what they come to for a recipe."""
