/** The pages: one HTML file for every address, and its scripts and styles. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance } from 'fastify'

export interface PageDeps {
  /** Where the built pages lie. */
  readonly webRoot: string
  readonly mount: string
}

/** Addresses that show the page; which view, the page decides by itself. */
const pages = ['/', '/about']
/** Those that must open for whoever is not signed in yet; they and what they load hold nothing worth hiding. */
const openPages = ['/sign-in', '/set-up']

export function pageRoutes(app: FastifyInstance, { webRoot, mount }: PageDeps): void {
  const html = readPage(webRoot, mount)
  for (const path of [...pages, ...openPages]) {
    const needs = openPages.includes(path) ? 'nothing' : 'read'
    app.get(path, { config: { needs } }, (_request, reply) =>
      reply.header('content-type', 'text/html; charset=utf-8').header('cache-control', 'no-cache').send(html),
    )
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

/** Vite writes addresses relative to the page; ours stand below the mount prefix, whatever page was asked for. */
function readPage(webRoot: string, mount: string): string {
  const path = join(webRoot, 'index.html')
  try {
    return readFileSync(path, 'utf8').replaceAll('="./', `="${mount}/`)
  } catch (cause) {
    throw new Error(`The pages are not built: ${path} is missing. Run "npm run build".`, { cause })
  }
}
