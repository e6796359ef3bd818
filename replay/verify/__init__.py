"""Whether each decision of a log is the one that the policy demands (design section 8)."""
