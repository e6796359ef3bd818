"""Resource locks of recipes: declarations, their algebra, and the predicted contention of a recipe set."""
