"""The enrichment queue: workers, leases, retries, limits and cost estimates."""
