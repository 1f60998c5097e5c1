/** Creates the HTTP server: hooks, error handling, the mount prefix and all routes. */

import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import fastifyWebsocket from '@fastify/websocket'
import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyPluginCallback,
  type FastifyRequest,
  LogController,
} from 'fastify'
import { RequestError, type RequestErrorCode } from '../../domain/errors.ts'
import { connectionLimits } from '../../domain/scheduling/connection-limits.ts'
import type { Redis } from '../../state/redis.ts'
import { type AccountDeps, accountRoutes } from '../routes/accounts.ts'
import { type AlertRoutesDeps, alertRoutes } from '../routes/alerts.ts'
import { type DiscoveryDeps, discoveryRoutes, reviewRoutes } from '../routes/discovery.ts'
import { docsRoutes } from '../routes/docs.ts'
import { type HardwareRoutesDeps, hardwareRoutes } from '../routes/hardware.ts'
import { type LocationRoutesDeps, locationRoutes } from '../routes/locations.ts'
import { type ManufacturerRoutesDeps, manufacturerRoutes } from '../routes/manufacturers.ts'
import { type MetricsDeps, metricsRoutes } from '../routes/metrics.ts'
import { livenessRoutes, type MonitoringDeps, monitoringRoutes } from '../routes/monitoring.ts'
import { collectRoutes } from '../routes/openapi-document.ts'
import { type PageDeps, pageRoutes, readPage, sendPage } from '../routes/pages.ts'
import { type ReceiverDeps, receiverRoutes } from '../routes/receivers.ts'
import { type SettingRoutesDeps, settingRoutes } from '../routes/settings.ts'
import { type SingleRecordDeps, singleRecordRoutes } from '../routes/single-records.ts'
import { closeSockets, type SocketDeps, socketRoutes, socketServerOptions } from '../routes/socket.ts'
import { type StoreRoutesDeps, storeRoutes } from '../routes/store.ts'
import { acceptJsonOnly, ignoreBody, maxBodyBytes } from './bodies.ts'
import { descriptorLimit, limitConnections } from './connections.ts'
import type { ContractServer } from './contract.ts'
import {
  errorOf,
  isNavigation,
  redirectToSignIn,
  rejectHandshake,
  rejectMalformed,
  sendError,
  toRequestError,
} from './error-response.ts'
import { createGuard, type GuardSettings, trustProxies } from './guard.ts'
import { addConnectionHeaders, addConstantHeaders, constantHeaders, type HeaderSettings } from './headers.ts'
import { Incoming, readTarget } from './incoming.ts'
import { LiveData, type LiveDataDeps } from './live-data.ts'
import { createRequestLimiter, type RateLimitSettings } from './rate-limit.ts'
import { createClosing } from './shutdown.ts'
import { createValidatorCompiler, invalidBody } from './validation.ts'

export interface ServerDeps
  extends Omit<ReceiverDeps, 'liveData'>,
    LiveDataDeps,
    MonitoringDeps,
    Omit<SocketDeps, 'liveData'>,
    PageDeps,
    AccountDeps,
    AlertRoutesDeps,
    MetricsDeps,
    HardwareRoutesDeps,
    ManufacturerRoutesDeps,
    DiscoveryDeps,
    LocationRoutesDeps,
    StoreRoutesDeps,
    SingleRecordDeps,
    SettingRoutesDeps {
  readonly guard: GuardSettings
  readonly headers: HeaderSettings
  /** The public URL of the service; null if it is not configured. */
  readonly publicUrl: URL | null
  readonly rateLimit: RateLimitSettings
  /** The Redis connection, which the processes of an installation share; null if Redis is not configured. */
  readonly redis: Redis | null
  readonly tls: { readonly cert: string; readonly key: string } | null
  readonly log: FastifyBaseLogger
}

const headSeconds = 10
const requestSeconds = 30
const maxUrlChars = 8 * 1024

export async function createServer(deps: ServerDeps): Promise<FastifyInstance> {
  const check = createGuard({ ...deps.guard, credentials: deps.credentials, log: deps.log })
  const headers = constantHeaders(deps.headers)
  const html = readPage(deps)
  const limits = connectionLimits(descriptorLimit())
  if (limits.isLowered) {
    const { descriptors, connections, sockets } = limits
    deps.log.warn(
      { descriptors, connections, sockets },
      'client limit lowered because of the limit on open files; see ulimit -n',
    )
  }
  const app = fastify({
    ...connectionOptions(deps),
    loggerInstance: deps.log,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: maxBodyBytes,
    routerOptions: { ignoreTrailingSlash: true },
    rewriteUrl: readTarget,
    trustProxy: deps.guard.trustedProxies.length > 0 && trustProxies(deps.guard.trustedProxies),
    schemaErrorFormatter: invalidBody,
    genReqId: () => randomUUID(),
    frameworkErrors(error, request, reply) {
      // No hook runs for Fastify's own errors, such as a malformed URL, so the connection of an upgrade request has to
      // be closed here.
      const { raw } = request
      if (raw instanceof Incoming && raw.upgrade) reply.raw.once('finish', () => raw.socket.destroySoon())
      sendError(reply, errorOf(() => check(request)) ?? toRequestError(error), headers)
    },
    clientErrorHandler: (error, socket) => rejectMalformed(error, socket, headers),
  }) as unknown as FastifyInstance
  limitConnections(app.server, limits)
  app.decorate('constantHeaders', Object.entries(headers))
  app.decorate('publicUrl', deps.publicUrl)
  app.decorate('isStopping', () => deps.signal.aborted)
  const closing = createClosing(app.server)
  // Ignores unknown values of the Expect header and handles the request normally.
  app.server.on('checkExpectation', app.routing)
  acceptJsonOnly(app)
  app.setValidatorCompiler(createValidatorCompiler())
  // The schemas of responses describe them; they do not change how they are serialized.
  app.setSerializerCompiler(() => JSON.stringify)

  // Must be registered before the hooks below, so that it closes the connection of an upgrade request that a hook
  // rejects.
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

  app.decorateRequest('actor', null as unknown as FastifyRequest['actor'])
  app.decorateRequest('credential', null)
  app.decorateRequest('isLocal', false)
  app.addHook('onRequest', (request, _reply, done) => {
    if (deps.signal.aborted) throw new RequestError('stopping')
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
      throw new RequestError('bad_request', { details: 'Upgrade: only /ws supports WebSocket' })
    done()
  })
  const rateLimit = createRequestLimiter(app, deps.rateLimit, deps)
  app.addHook('onRequest', (request, reply, done) => {
    const counting = rateLimit.count(request, reply)
    if (counting === undefined) done()
    else counting.then(() => done(), done)
  })
  app.addHook('onRequest', ignoreBody)
  app.setErrorHandler(async (error, request, reply) => {
    let requestError = toRequestError(error)
    try {
      if (guardErrors.has(requestError.code)) await rateLimit.countByAddress(request, reply)
    } catch (rateLimitError) {
      requestError = toRequestError(rateLimitError)
    }
    const isNavigating = isNavigation(request, deps.mount)
    if (requestError.code === 'sign_in_needed' && (isNavigating || request.routeOptions.config.isPage)) {
      return redirectToSignIn(reply, deps.mount)
    }
    if (requestError.code === 'not_found' && isNavigating) return sendPage(reply.code(requestError.status), html)
    if (requestError.status === 500) deps.log.error({ err: error, request: request.id }, 'request failed')
    return sendError(reply, requestError, headers)
  })
  const methodsOf = collectMethods(app)
  app.setNotFoundHandler((request, reply) => {
    const [path = ''] = request.url.split('?')
    const allowed = methodsOf(path)
    if (allowed.length === 0 || allowed.includes(request.method))
      throw new RequestError('not_found', { subject: `such address: ${path}` })
    reply.header('allow', allowed.join(', '))
    throw new RequestError('wrong_method', { subject: request.method })
  })

  const collector = await collectRoutes(app, deps)
  const liveData = new LiveData(deps)
  const rootRoutes: FastifyPluginCallback = (instance, _options, done) => {
    const scope: ContractServer = instance.withTypeProvider()
    livenessRoutes(scope, deps)
    socketRoutes(instance, { ...deps, liveData, maxClients: limits.sockets })
    done()
  }
  const routes: FastifyPluginCallback = (instance, options, done) => {
    const scope: ContractServer = instance.withTypeProvider()
    receiverRoutes(scope, { ...deps, liveData })
    monitoringRoutes(scope, deps)
    alertRoutes(scope, deps)
    metricsRoutes(scope, deps)
    accountRoutes(scope, deps)
    hardwareRoutes(scope, deps)
    manufacturerRoutes(scope, deps)
    discoveryRoutes(scope, deps)
    reviewRoutes(scope, deps)
    locationRoutes(scope, deps)
    storeRoutes(scope, deps)
    settingRoutes(scope, deps)
    singleRecordRoutes(scope, deps)
    docsRoutes(scope, { ...deps, collector })
    pageRoutes(instance, deps, html)
    rootRoutes(instance, options, done)
  }
  await app.register(routes, { prefix: deps.mount })
  // With a mount prefix, these routes are also available at the root.
  if (deps.mount !== '') await app.register(rootRoutes)
  return app
}

/** Returns the timeouts, limits and TLS options of the HTTP server. */
function connectionOptions({ tls }: Pick<ServerDeps, 'tls'>) {
  const times = { requestTimeout: requestSeconds * 1000, keepAliveTimeout: 65_000, return503OnClosing: false }
  const http = {
    maxHeaderSize: 16 * 1024,
    headersTimeout: headSeconds * 1000,
    connectionsCheckingInterval: 2000,
    // The guard checks the Host header and returns the standard error response.
    requireHostHeader: false,
    IncomingMessage: Incoming,
  }
  if (tls === null) return { ...times, http }
  const [cert, key] = [readFileSync(tls.cert), readFileSync(tls.key)]
  return { ...times, https: { ...http, handshakeTimeout: headSeconds * 1000, cert, key } }
}

/** Errors from the guard, which are thrown before the rate limiter has counted the request. */
const guardErrors: ReadonlySet<RequestErrorCode> = new Set([
  'sign_in_needed',
  'not_allowed',
  'csrf_token_needed',
  'foreign_origin',
  'misdirected',
])

/** Records the methods of every route, to distinguish a wrong method from an unknown path. */
function collectMethods(app: FastifyInstance): (path: string) => string[] {
  const known = new Map<string, { readonly pattern: RegExp; readonly methods: Set<string> }>()
  app.addHook('onRoute', ({ url, method }) => {
    const path = url.replace(/(.)\/$/, '$1')
    const pattern = new RegExp(`^${path.replace(/[.]/g, '\\.').replace(/:\w+/g, '[^/]+').replace('*', '.*')}/?$`)
    const route = known.get(path) ?? { pattern, methods: new Set<string>() }
    for (const name of [method].flat()) route.methods.add(name)
    known.set(path, route)
  })
  return (path) => {
    const routes = [...known.values()].filter(({ pattern }) => pattern.test(path))
    return [...new Set(routes.flatMap(({ methods }) => [...methods]))]
  }
}
