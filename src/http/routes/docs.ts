/** Serves the OpenAPI document, the page that shows it, and the AsyncAPI document. They are created once, when the service starts. */

import type { FastifyInstance } from 'fastify'
import { type CachedResponse, createResponse, sendResponse } from '../server/response.ts'
import { createAsyncApi } from './asyncapi-document.ts'
import { docsPage } from './docs-page.ts'
import { docsStyle } from './docs-style.ts'
import { createDocument, type DocumentOptions } from './openapi-document.ts'

const html = 'text/html; charset=utf-8'
const css = 'text/css; charset=utf-8'

export function docsRoutes(app: FastifyInstance, options: DocumentOptions): void {
  const { mount } = options
  const asyncApi = createResponse(JSON.stringify(createAsyncApi(options)))
  let responses: { readonly json: CachedResponse; readonly page: CachedResponse; readonly style: CachedResponse }
  app.addHook('onReady', (done) => {
    const document = createDocument(app)
    responses = {
      json: createResponse(JSON.stringify(document)),
      page: createResponse(docsPage(document, mount), html),
      style: createResponse(docsStyle, css),
    }
    done()
  })
  app.get('/api/openapi.json', (request, reply) => sendResponse(request, reply, responses.json))
  app.get('/api/asyncapi.json', (request, reply) => sendResponse(request, reply, asyncApi))
  const isPage = { schema: { hide: true } }
  app.get('/api/docs', isPage, (request, reply) => sendResponse(request, reply, responses.page))
  app.get('/api/docs/style.css', isPage, (request, reply) => sendResponse(request, reply, responses.style))
}
