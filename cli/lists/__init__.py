"""Lists of jobs, recipes, systems and the directory, and shell completion of their names."""
