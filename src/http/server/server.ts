/** Creates the HTTP server: its limits, the hooks that every request passes, and all routes. */

import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import fastifyWebsocket from '@fastify/websocket'
import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyRequest,
  type FastifyServerOptions,
  LogController,
} from 'fastify'
import type { Access } from '../../actions/access/access.ts'
import type { Config } from '../../config.ts'
import { connectionLimits, minSocketsPerClient } from '../../domain/access/limits.ts'
import { RequestError } from '../../domain/errors.ts'
import { closeSockets, socketServerOptions } from '../../live/routes/socket.ts'
import { ClientShares } from '../../platform/concurrency.ts'
import { createHttpHistogram } from '../../platform/counters.ts'
import type { Service } from '../../service.ts'
import type { CertificatePair } from '../../storage/certificate.ts'
import { type RouteOptions, registerProbes, registerRoutes } from '../routes/index.ts'
import { readPage } from '../routes/pages.ts'
import { acceptJsonOnly, ignoreBody, maxBodyBytes } from './bodies.ts'
import { limitBodyTime } from './body-time.ts'
import { compressTexts } from './compression.ts'
import { type Connections, descriptorLimit, limitConnections } from './connections.ts'
import { handleErrors } from './error-handlers.ts'
import { rejectHandshake, rejectMalformed, rejectWithoutTls } from './error-response.ts'
import { createGuard, type Guard, trustProxies } from './guard.ts'
import { addConnectionHeaders, addConstantHeaders, type ConstantHeaders, constantHeaders } from './headers.ts'
import { tagVersions } from './if-match.ts'
import { hasReadablePath, Incoming, readTarget } from './incoming.ts'
import { createRequestLimiter, type RequestLimiter } from './rate-limit.ts'
import { createClosing } from './shutdown.ts'
import { createValidatorCompiler, invalidBody } from './validation.ts'

export interface ServerOptions extends Omit<RouteOptions, 'config' | 'html' | 'sockets'> {
  /** The contents of the certificate and its key; null without TLS. */
  readonly tls: CertificatePair | null
  /** True for only the routes of supervisors and Prometheus. */
  readonly hasOnlyProbes?: boolean
}

const headSeconds = 10
const maxUrlChars = 8 * 1024

export interface Server {
  readonly app: FastifyInstance
  /** Applies to all requests that arrive from now on. */
  applyConfig(config: Config): void
}

export async function createServer(
  config: Config,
  service: Service,
  access: Access,
  { tls, hasOnlyProbes = false, ...options }: ServerOptions,
): Promise<Server> {
  const { signal, mount, publicUrl, log } = service
  const { handover, version, webRoot } = options
  let guard = createGuard(config, access, log)
  let isTrusted = trustProxies(config.server.trusted_proxies)
  const check: Guard = (request) => guard(request)
  const headers = constantHeaders(config.server)
  const html = readPage(webRoot, mount)
  const limits = connectionLimits(descriptorLimit())
  if (limits.isLowered) {
    const { descriptors, connections, sockets } = limits
    log.warn(
      { descriptors, connections, sockets },
      'client limit lowered because of the limit on open files; see ulimit -n',
    )
  }
  const app = createInstance(log, tls, {
    trustProxy: (address) => isTrusted(address),
    rejectClient(error, socket) {
      if (error.code === 'ERR_SSL_HTTP_REQUEST') rejectWithoutTls(connections.acceptedSocket(socket))
      else rejectMalformed(error, socket, headers)
    },
  })
  const connections = limitConnections(app.server, limits, (address) => isTrusted(address))
  app.decorate('constantHeaders', Object.entries(headers))
  app.decorate('publicUrl', publicUrl === null ? null : new URL(publicUrl))
  app.decorate('isStopping', () => signal.aborted || handover.aborted)
  // Must be registered before the hooks, so that it closes the connection of an upgrade request that a hook rejects.
  await acceptSockets(app, headers)
  const rateLimit = createRequestLimiter(app, config.rate_limit, service)
  compressTexts(app)
  addHooks(app, { signal, check, rateLimit, connections })
  const observe = createHttpHistogram(service.counters)
  app.addHook('onResponse', (request, reply, done) => {
    observe(request.method, request.routeOptions.url ?? 'unknown', reply.statusCode, reply.elapsedTime / 1000)
    done()
  })
  handleErrors(app, service, { html, headers, rateLimit })
  tagVersions(app)
  if (hasOnlyProbes) await registerProbes(app, service, version, handover)
  else {
    const sockets = new ClientShares(limits.sockets, minSocketsPerClient)
    await registerRoutes(app, service, access, { ...options, config, html, sockets })
  }
  let limited = config.rate_limit
  return {
    app,
    applyConfig(changed) {
      guard = createGuard(changed, access, log)
      access.rolesWithTotp = changed.require_totp
      isTrusted = trustProxies(changed.server.trusted_proxies)
      if (!isDeepStrictEqual(changed.rate_limit, limited)) rateLimit.setLimits(changed.rate_limit)
      limited = changed.rate_limit
    },
  }
}

/**
 * With both compilers given, Fastify does not load its own. Response schemas only describe responses; they do not affect
 * how responses are serialized. The types of Fastify expect its own compilers.
 */
const compilersFactory = {
  buildValidator: () => createValidatorCompiler(),
  buildSerializer: () => () => JSON.stringify,
} as unknown as NonNullable<FastifyServerOptions['schemaController']>['compilersFactory']

interface InstanceOptions {
  trustProxy(address: string): boolean
  /** Responds to bytes that are not a valid request. */
  rejectClient(error: NodeJS.ErrnoException, socket: Socket): void
}

/** Creates the instance without hooks and routes. */
function createInstance(
  log: FastifyBaseLogger,
  tls: CertificatePair | null,
  { trustProxy, rejectClient }: InstanceOptions,
): FastifyInstance {
  const app = fastify({
    ...connectionOptions(tls),
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: maxBodyBytes,
    // Longer parameters would not pass the hooks.
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: maxUrlChars },
    rewriteUrl: readTarget,
    trustProxy,
    schemaController: { compilersFactory },
    schemaErrorFormatter: invalidBody,
    genReqId: () => randomUUID(),
    clientErrorHandler: rejectClient,
  }) as unknown as FastifyInstance
  // Ignores unknown values of the Expect header and handles the request normally.
  app.server.on('checkExpectation', app.routing)
  acceptJsonOnly(app)
  limitBodyTime(app.server)
  return app
}

/** Returns the timeouts, limits and TLS options of the HTTP server. `limitBodyTime` limits the time of bodies. */
function connectionOptions(tls: CertificatePair | null) {
  const times = { requestTimeout: 0, keepAliveTimeout: 65_000, return503OnClosing: false }
  const http = {
    maxHeaderSize: 16 * 1024,
    headersTimeout: headSeconds * 1000,
    connectionsCheckingInterval: 2000,
    // The guard checks the Host header and returns the standard error response.
    requireHostHeader: false,
    IncomingMessage: Incoming,
  }
  if (tls === null) return { ...times, http }
  return { ...times, https: { ...http, handshakeTimeout: headSeconds * 1000, ...tls } }
}

/** Accepts WebSockets. When the service stops, they are closed before the other connections. */
async function acceptSockets(app: FastifyInstance, headers: ConstantHeaders): Promise<void> {
  const closing = createClosing(app.server)
  await app.register(fastifyWebsocket, {
    options: socketServerOptions,
    preClose(done) {
      closing.stopListening()
      const ended = closeSockets(app.websocketServer.clients)
      app.websocketServer.close(() => {
        ended()
        void closing.linger().then(() => done())
      })
    },
  })
  app.websocketServer.on('wsClientError', (error, socket) => rejectHandshake(error, socket, headers))
}

interface Checks {
  readonly signal: AbortSignal
  readonly check: Guard
  readonly rateLimit: RequestLimiter
  readonly connections: Connections
}

/** Adds the hooks that run before every handler, and for every response. */
function addHooks(app: FastifyInstance, { signal, check, rateLimit, connections }: Checks): void {
  app.decorateRequest('actor', null as unknown as FastifyRequest['actor'])
  app.decorateRequest('credential', null)
  app.decorateRequest('isLocal', false)
  app.addHook('onRequest', (request, reply, done) => {
    if (signal.aborted) throw new RequestError('stopping')
    if (connections.isExcess(request.raw.socket)) {
      reply.header('connection', 'close')
      throw new RequestError('connections_full')
    }
    if (request.url.length > maxUrlChars) throw new RequestError('address_too_long')
    const decided = check(request)
    if (decided === undefined) done()
    else decided.then(() => done(), done)
  })
  app.addHook('onSend', (_request, reply, _payload, done) => {
    addConstantHeaders(reply)
    addConnectionHeaders(reply)
    done()
  })
  app.addHook('onRequest', (request, _reply, done) => {
    const isSocket = request.is404 || request.routeOptions.config.isSocket === true
    if (request.ws && !isSocket)
      throw new RequestError('bad_request', { details: 'Upgrade: only /ws and /api/audio/listen support WebSocket' })
    done()
  })
  app.addHook('onRequest', (request, reply, done) => {
    const counting = rateLimit.count(request, reply)
    if (counting === undefined) done()
    else counting.then(() => done(), done)
  })
  app.addHook('onRequest', (request, _reply, done) => {
    if (!hasReadablePath(request.originalUrl)) throw new RequestError('bad_request')
    done()
  })
  app.addHook('onRequest', ignoreBody)
}
