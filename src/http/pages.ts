/** The pages: one HTML file for every address, and its scripts and styles. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { pages } from '../model/pages.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route shows a page: who is not signed in is led there, whatever the request says it can read. */
    isPage?: boolean
  }
}

export interface PageDeps {
  /** Where the built pages lie. */
  readonly webRoot: string
  readonly mount: string
}

export function pageRoutes(app: FastifyInstance, { webRoot }: Pick<PageDeps, 'webRoot'>, html: string): void {
  for (const { path, needs } of pages) {
    app.get(path, { config: { needs, isPage: true } }, (_request, reply) => sendPage(reply, html))
  }
  // Names carry a hash of the content, so they never change.
  void app.register((assets, _options, done) => {
    assets.addHook('onRoute', (route) => {
      route.config = { ...route.config, needs: 'nothing' }
    })
    void assets.register(fastifyStatic, {
      root: join(webRoot, 'assets'),
      prefix: '/assets/',
      immutable: true,
      maxAge: '365d',
      decorateReply: false,
    })
    done()
  })
}

/** The browser picks the view by the address, and says so where there is none. */
export function sendPage(reply: FastifyReply, html: string): FastifyReply {
  return reply.header('content-type', 'text/html; charset=utf-8').header('cache-control', 'no-cache').send(html)
}

/** Vite writes addresses relative to the page; ours stand below the mount prefix, whatever page was asked for. */
export function readPage({ webRoot, mount }: PageDeps): string {
  const path = join(webRoot, 'index.html')
  try {
    return readFileSync(path, 'utf8').replaceAll('="./', `="${mount}/`)
  } catch (cause) {
    throw new Error(`The pages are not built: ${path} is missing. Run "npm run build".`, { cause })
  }
}
