/** The door for browsers and scripts: every route in one list, the mount prefix, the error shape, the pages. */

import { readFileSync } from 'node:fs'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import fastifyWebsocket from '@fastify/websocket'
import fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyPluginCallback,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import { Refusal, type RefusalCode, toErrorBody } from '../model/errors.ts'
import { StoreBusyError, StoreDownError } from '../store/errors.ts'
import { type AccountDeps, accountRoutes } from './accounts.ts'
import { type AlertRoutesDeps, alertRoutes } from './alerts.ts'
import { type DiscoveryDeps, discoveryRoutes, reviewRoutes } from './discovery.ts'
import { docsRoutes } from './docs.ts'
import { createGuard, type GuardSettings, trustOf } from './guard.ts'
import { type HardwareRoutesDeps, hardwareRoutes } from './hardware.ts'
import { type ManufacturerRoutesDeps, manufacturerRoutes } from './manufacturers.ts'
import { type MetricsDeps, metricsRoutes } from './metrics.ts'
import { livenessRoutes, type MonitoringDeps, monitoringRoutes } from './monitoring.ts'
import { documentRoutes } from './openapi-document.ts'
import { type PageDeps, pageRoutes } from './pages.ts'
import { type PlaceDeps, placeRoutes } from './places.ts'
import { createRateLimit, type RateLimitSettings } from './rate-limit.ts'
import { type ReceiverDeps, receiverRoutes } from './receivers.ts'
import { refuseMisfits, validation } from './schemas.ts'
import { closeSockets, type SocketDeps, socketRoutes, socketServerOptions } from './socket.ts'

export interface ServerDeps
  extends ReceiverDeps,
    MonitoringDeps,
    SocketDeps,
    PageDeps,
    AccountDeps,
    AlertRoutesDeps,
    MetricsDeps,
    HardwareRoutesDeps,
    ManufacturerRoutesDeps,
    DiscoveryDeps,
    PlaceDeps {
  readonly guard: GuardSettings
  readonly rateLimit: RateLimitSettings
  readonly tls: { readonly cert: string; readonly key: string } | null
  readonly log: FastifyBaseLogger
}

const headSeconds = 10
const requestSeconds = 30
const maxUrlChars = 8 * 1024

export async function createServer(deps: ServerDeps): Promise<FastifyInstance> {
  const check = createGuard({ ...deps.guard, credentials: deps.credentials, log: deps.log })
  const limits = { maxHeaderSize: 16 * 1024, headersTimeout: headSeconds * 1000, connectionsCheckingInterval: 2000 }
  const app = fastify({
    loggerInstance: deps.log,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: 1024 * 1024,
    requestTimeout: requestSeconds * 1000,
    keepAliveTimeout: 65_000,
    forceCloseConnections: true,
    routerOptions: { ignoreTrailingSlash: true },
    trustProxy: deps.guard.trustedProxies.length > 0 && trustOf(deps.guard.trustedProxies),
    ajv: { customOptions: validation },
    schemaErrorFormatter: refuseMisfits,
    frameworkErrors: (error, request, reply) => sendRefusal(reply, refusalOf(() => check(request)) ?? toRefusal(error)),
    clientErrorHandler: refuseBrokenRequest,
    ...(deps.tls === null
      ? { http: limits }
      : { https: { ...limits, cert: readFileSync(deps.tls.cert), key: readFileSync(deps.tls.key) } }),
  }) as unknown as FastifyInstance
  readJsonAlone(app)

  // Before our own hooks: only then does it end the connection of an upgrade that they refuse.
  await app.register(fastifyWebsocket, {
    options: socketServerOptions,
    preClose(done) {
      const ended = closeSockets(app.websocketServer.clients)
      app.websocketServer.close(() => {
        ended()
        done()
      })
    },
  })

  app.decorateRequest('actor', null as unknown as FastifyRequest['actor'])
  app.decorateRequest('credential', null)
  app.decorateRequest('isLocal', false)
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(constantHeaders)
    if (request.url.length > maxUrlChars) throw new Refusal('address_too_long')
    const decided = check(request)
    if (decided === undefined) done()
    else decided.then(() => done(), done)
  })
  const rateLimit = createRateLimit(app, deps.rateLimit, { mount: deps.mount })
  app.addHook('onRequest', (request, reply, done) => {
    rateLimit.count(request, reply)
    done()
  })
  app.setErrorHandler((error, request, reply) => {
    let refusal = toRefusal(error)
    try {
      if (turnedAway.has(refusal.code)) rateLimit.countStranger(request, reply)
    } catch (tooMany) {
      refusal = toRefusal(tooMany)
    }
    if (refusal.code === 'sign_in_needed' && isNavigation(request, deps.mount)) return leadToSignIn(reply, deps.mount)
    if (refusal.status === 500) deps.log.error({ err: error }, 'a request failed')
    return sendRefusal(reply, refusal)
  })
  const methodsAt = rememberMethods(app)
  app.setNotFoundHandler((request, reply) => {
    const [path = ''] = request.url.split('?')
    const allowed = methodsAt(path)
    if (allowed.length === 0 || allowed.includes(request.method))
      throw new Refusal('not_found', { about: `such address: ${path}` })
    reply.header('allow', allowed.join(', '))
    throw new Refusal('wrong_method', { about: request.method })
  })

  await documentRoutes(app, deps)
  const rootRoutes: FastifyPluginCallback = (at, _options, done) => {
    livenessRoutes(at, deps)
    socketRoutes(at, deps)
    done()
  }
  const routes: FastifyPluginCallback = (at, options, done) => {
    receiverRoutes(at, deps)
    monitoringRoutes(at, deps)
    alertRoutes(at, deps)
    metricsRoutes(at, deps)
    accountRoutes(at, deps)
    hardwareRoutes(at, deps)
    manufacturerRoutes(at, deps)
    discoveryRoutes(at, deps)
    reviewRoutes(at, deps)
    placeRoutes(at, deps)
    docsRoutes(at, deps)
    pageRoutes(at, deps)
    rootRoutes(at, options, done)
  }
  await app.register(routes, { prefix: deps.mount })
  // With a mount, these answer at the root as well.
  if (deps.mount !== '') await app.register(rootRoutes)
  return app
}

const constantHeaders = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
    "connect-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; " +
    "object-src 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
}

/** Somebody opens a page, who can read one that asks them to sign in. */
function isNavigation({ method, url, headers }: FastifyRequest, mount: string): boolean {
  const isPage = !url.startsWith(`${mount}/api/`) && headers.upgrade === undefined
  return method === 'GET' && isPage && headers.accept?.includes('text/html') === true
}

function leadToSignIn(reply: FastifyReply, mount: string): FastifyReply {
  const { url } = reply.request
  // An address that begins with two slashes would lead to another site.
  const next = url.startsWith('//') ? '' : `?${new URLSearchParams({ next: url })}`
  return reply.redirect(`${mount}/sign-in${next}`)
}

/** Refusals at the door, before anybody has counted the request. */
const turnedAway: ReadonlySet<RefusalCode> = new Set([
  'sign_in_needed',
  'not_allowed',
  'csrf_token_needed',
  'foreign_origin',
  'misdirected',
])

function sendRefusal(reply: FastifyReply, refusal: Refusal): FastifyReply {
  reply.headers(constantHeaders)
  if (refusal.retryAfter !== undefined) reply.header('retry-after', refusal.retryAfter)
  if (refusal.status === 401) reply.header('www-authenticate', 'Bearer')
  return reply.code(refusal.status).send(toErrorBody(refusal))
}

/** What never became a request: no HTTP, a head too large or too slow. */
function refuseBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const codes: Readonly<Record<string, RefusalCode>> = {
    HPE_HEADER_OVERFLOW: 'head_too_large',
    ERR_HTTP_REQUEST_TIMEOUT: 'too_slow',
  }
  const refusal = new Refusal(codes[error.code ?? ''] ?? 'bad_request')
  const body = JSON.stringify(toErrorBody(refusal))
  const head = [
    `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}

/** JSON is the only body there is; none at all is none, whatever its type says. */
function readJsonAlone(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  const parse = app.getDefaultJsonParser('error', 'error')
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null, undefined)
    else void parse(request, body as string, done)
  })
}

/** Remembers every route, so that a known path with a wrong method can be told from an unknown path. */
function rememberMethods(app: FastifyInstance): (path: string) => string[] {
  const known = new Map<string, { readonly pattern: RegExp; readonly methods: Set<string> }>()
  app.addHook('onRoute', ({ url, method }) => {
    const path = url.replace(/(.)\/$/, '$1')
    const pattern = new RegExp(`^${path.replace(/[.]/g, '\\.').replace(/:\w+/g, '[^/]+').replace('*', '.*')}/?$`)
    const route = known.get(path) ?? { pattern, methods: new Set<string>() }
    for (const one of [method].flat()) route.methods.add(one)
    known.set(path, route)
  })
  return (path) => {
    const routes = [...known.values()].filter(({ pattern }) => pattern.test(path))
    return [...new Set(routes.flatMap(({ methods }) => [...methods]))]
  }
}

/** Fastify's own errors -> ours. */
const fastifyErrors: Readonly<Record<string, RefusalCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'not_json_type',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'not_json',
  FST_ERR_CTP_INVALID_JSON_BODY: 'not_json',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'bad_request',
  FST_ERR_BAD_URL: 'bad_request',
  FST_ERR_VALIDATION: 'bad_request',
}

/** What is wrong with a request at first sight, before anything of its address is understood. */
function refusalOf(check: () => unknown): Refusal | undefined {
  try {
    check()
    return undefined
  } catch (error) {
    return error instanceof Refusal ? error : undefined
  }
}

function toRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  if (error instanceof StoreBusyError || error instanceof StoreDownError) {
    return new Refusal('store_busy', { cause: error })
  }
  const { code = '', statusCode = 500 } = error as FastifyError
  const known = fastifyErrors[code]
  if (known !== undefined) return new Refusal(known, { cause: error })
  return new Refusal(statusCode >= 400 && statusCode < 500 ? 'bad_request' : 'internal', { cause: error })
}
