"""Commands that submit, follow, show, explain and change jobs and recipes."""
