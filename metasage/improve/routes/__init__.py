"""Routes from a depot: CVRP, and tours whose lengths differ by direction."""
