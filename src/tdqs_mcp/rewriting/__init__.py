"""Better definitions: writers, the source of every statement, plans, comparisons, selection tests, patches."""
