/** Serves the pages: the same HTML for every page URL, with the files of the page, its assets, and the help. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyReply, preHandlerAsyncHookHandler } from 'fastify'
import { type PageName, pages } from '../../domain/pages.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * True if the route shows a page: unauthenticated requests are redirected to the sign-in page, whatever their
     * Accept header.
     */
    isPage?: boolean
  }
}

export interface PageOptions {
  /** The folder of the built pages. */
  readonly webRoot: string
  readonly mount: string
  readonly html: string
  /** Called before a page is sent that needs a permission. */
  readonly onVisit: preHandlerAsyncHookHandler | null
}

export function pageRoutes(app: FastifyInstance, { webRoot, mount, html, onVisit }: PageOptions): void {
  const files = JSON.parse(readFileSync(join(webRoot, 'page-files.json'), 'utf8')) as PageFiles
  for (const { name, path, needs } of pages) {
    const ownHtml = addFiles(html, mount, files[name])
    const config = { needs, isPage: true, isOwnAccount: name === 'account' }
    const visit = needs !== 'nothing' && onVisit !== null ? { preHandler: onVisit } : {}
    app.get(path, { config, ...visit }, (_request, reply) => sendPage(reply, ownHtml))
  }
  void app.register((files, _options, done) => {
    files.addHook('onRoute', (route) => {
      route.config = { ...route.config, needs: 'nothing' }
    })
    // File names contain a hash of the content, so the files never change.
    void files.register(fastifyStatic, {
      root: join(webRoot, 'assets'),
      prefix: '/assets/',
      immutable: true,
      maxAge: '365d',
      preCompressed: true,
      decorateReply: false,
    })
    // The manifest of the installable app and its icons, whose names do not change.
    void files.register(fastifyStatic, {
      root: join(webRoot, 'app'),
      prefix: '/app/',
      maxAge: '1h',
      preCompressed: true,
      decorateReply: false,
    })
    done()
  })
}

/** Written by the build. */
type PageFiles = Readonly<Record<PageName, readonly string[]>>

/** The browser requests these files together with the application, which would otherwise request them once it runs. */
function addFiles(html: string, mount: string, files: readonly string[]): string {
  const links = files.map((file) => {
    const relation = file.endsWith('.css') ? 'stylesheet' : 'modulepreload'
    return `<link rel="${relation}" crossorigin href="${mount}/${file}">`
  })
  return html.replace('</head>', `${links.join('')}</head>`)
}

/** Serves the documents, which the build renders to HTML pages. */
export function helpRoutes(app: FastifyInstance, webRoot: string, mount: string): void {
  // With and without a slash at the end. The links of the page are relative, so its address has to be complete.
  app.get('/help', { config: { needs: 'read', isPage: true } }, (_request, reply) =>
    reply.redirect(`${mount}/help/index.html`),
  )
  void app.register((files, _options, done) => {
    files.addHook('onRoute', (route) => {
      route.config = { ...route.config, needs: 'read', isPage: true }
    })
    void files.register(fastifyStatic, {
      root: join(webRoot, 'help'),
      prefix: '/help/',
      cacheControl: false,
      preCompressed: true,
      decorateReply: false,
    })
    done()
  })
}

/** Sends the page. The browser selects the view by URL, and shows a "not found" view for an unknown one. */
export function sendPage(reply: FastifyReply, html: string): FastifyReply {
  return reply.header('content-type', 'text/html; charset=utf-8').header('cache-control', 'no-cache').send(html)
}

/** Reads the HTML file and replaces Vite's relative asset URLs with URLs below the mount prefix. */
export function readPage(webRoot: string, mount: string): string {
  const path = join(webRoot, 'index.html')
  try {
    return readFileSync(path, 'utf8').replaceAll('="./', `="${mount}/`)
  } catch (cause) {
    throw new Error(`The pages are not built: ${path} is missing. Run "npm run build".`, { cause })
  }
}
