"""AgentDojo, driven through the whole product by a model that obeys every injection."""
