"""Jobs and their recipes: submitted, followed, shown, changed."""
