/** Serves the OpenAPI document, the page that shows it, and the AsyncAPI document. All are created when the service starts. */

import * as operations from '../../contract/operations/monitoring.ts'
import type { ContractServer } from '../server/contract.ts'
import { type CachedResponse, createResponse, sendResponse } from '../server/response.ts'
import { createAsyncApi } from './asyncapi-document.ts'
import { docsPage } from './docs-page.ts'
import { docsStyle } from './docs-style.ts'
import type { DocumentOptions, RouteCollector } from './openapi-document.ts'

const html = 'text/html; charset=utf-8'
const css = 'text/css; charset=utf-8'

export function docsRoutes(
  app: ContractServer,
  { collector, ...options }: DocumentOptions & { readonly collector: RouteCollector },
): void {
  const { mount } = options
  const asyncApi = createResponse(JSON.stringify(createAsyncApi(options)))
  let responses: { readonly json: CachedResponse; readonly page: CachedResponse; readonly style: CachedResponse }
  app.addHook('onReady', (done) => {
    const document = collector.createDocument()
    responses = {
      json: createResponse(JSON.stringify(document)),
      page: createResponse(docsPage(document, mount), html),
      style: createResponse(docsStyle, css),
    }
    done()
  })
  app.route({
    ...operations.getOpenApi,
    handler: (request, reply) => sendResponse(request, reply, responses.json),
  })
  app.route({ ...operations.getAsyncApi, handler: (request, reply) => sendResponse(request, reply, asyncApi) })
  app.get('/api/docs/', (request, reply) => sendResponse(request, reply, responses.page))
  app.get('/api/docs/style.css', (request, reply) => sendResponse(request, reply, responses.style))
}
