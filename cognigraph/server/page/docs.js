// Swagger UI, which describes the API and tries it out. The key stays in the page.

window.SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#docs",
  deepLinking: true,
  defaultModelsExpandDepth: -1,
  validatorUrl: null,
});
