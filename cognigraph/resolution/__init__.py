"""Entity resolution: which names stand for one entity. Pure decisions below the stores."""
