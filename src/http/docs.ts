/** The OpenAPI document and the page that shows it: made once, at start. */

import type { FastifyInstance } from 'fastify'
import { type CachedAnswer, createAnswer, sendAnswer } from './answer.ts'
import { docsPage } from './docs-page.ts'
import { docsStyle } from './docs-style.ts'
import { type DocumentOptions, makeDocument } from './openapi-document.ts'

const html = 'text/html; charset=utf-8'
const css = 'text/css; charset=utf-8'

export function docsRoutes(app: FastifyInstance, { mount }: DocumentOptions): void {
  let made: { readonly json: CachedAnswer; readonly page: CachedAnswer; readonly style: CachedAnswer }
  app.addHook('onReady', (done) => {
    const document = makeDocument(app)
    made = {
      json: createAnswer(JSON.stringify(document)),
      page: createAnswer(docsPage(document, mount), html),
      style: createAnswer(docsStyle, css),
    }
    done()
  })
  app.get('/api/openapi.json', (request, reply) => sendAnswer(request, reply, made.json))
  const isPage = { schema: { hide: true } }
  app.get('/api/docs', isPage, (request, reply) => sendAnswer(request, reply, made.page))
  app.get('/api/docs/style.css', isPage, (request, reply) => sendAnswer(request, reply, made.style))
}
