"""What every HTTP face shares: strict shapes, one error handler, request ids, health."""
