"""Systems: which fit, which are free, and who may submit to them."""
