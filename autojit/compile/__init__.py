"""From a function of jax values to a cached executable."""
