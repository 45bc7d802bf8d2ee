"""How the console writes times: sortable, to the second, with their zone."""
