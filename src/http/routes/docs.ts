/**
 * Serves the OpenAPI document, the page that shows it, and the AsyncAPI document. Each is created
 * when it is first requested, because creating them takes as long as the rest of the start.
 */

import { healthOperations } from '../../contract/health.ts'
import type { ContractServer } from '../server/contract.ts'
import { createResponse, sendResponse } from '../server/response.ts'
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
  const document = once(() => collector.createDocument())
  const openApi = once(() => createResponse(JSON.stringify(document())))
  const asyncApi = once(() => createResponse(JSON.stringify(createAsyncApi(options))))
  const page = once(() => createResponse(docsPage(document(), mount), html))
  const style = once(() => createResponse(docsStyle, css))
  app.route({ ...healthOperations.getOpenApi, handler: (request, reply) => sendResponse(request, reply, openApi()) })
  app.route({ ...healthOperations.getAsyncApi, handler: (request, reply) => sendResponse(request, reply, asyncApi()) })
  app.get('/api/docs/', { config: { isDocument: true } }, (request, reply) => sendResponse(request, reply, page()))
  app.get('/api/docs/style.css', (request, reply) => sendResponse(request, reply, style()))
}

/** Returns a function that creates the value at its first call and returns the same value at every call. */
function once<T extends object>(create: () => T): () => T {
  let value: T | undefined
  return () => {
    value ??= create()
    return value
  }
}
