/**
 * Rate limits per client: a token bucket for all REST requests, one for those of the pages, and separate buckets for
 * configured endpoints.
 */

import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { type Bucket, fullBucket, type RateLimit, takeToken } from '../../domain/access/limits.ts'
import { RequestError } from '../../domain/errors.ts'
import { clientKey } from '../../domain/identity/address.ts'
import { LruMap } from '../../platform/cache.ts'
import type { Service } from '../../service.ts'
import type { Redis } from '../../storage/redis.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * The operation of the REST interface, such as `PATCH /api/groups/:id`; undefined for other routes. HEAD requests
     * have that of GET.
     */
    endpoint?: string
    /** True if accepted requests to the route are not counted. */
    isUnlimited?: boolean
    /** True if requests to the route count towards the limit of their endpoint instead of the general limit. */
    hasOwnLimit?: boolean
  }
}

interface Limit {
  readonly max_requests: number
  readonly window_seconds: number
}

export interface RateLimitSettings extends Limit {
  /** Limits by endpoint, such as `POST /api/discover/`. They apply in addition to the general limit. */
  readonly overrides: Readonly<Record<string, Limit>>
}

/**
 * Limits the memory that requests from many addresses can use; the client whose last request is oldest is removed
 * first.
 */
const maxClients = 50_000

/** A page sends up to ten requests when it opens, and nobody reads faster than a page a second. */
const pageFactor = 5

/** The result of taking a token. If `waitMs` is above 0, no token was available. */
interface Taken {
  readonly tokens: number
  readonly waitMs: number
}

interface Buckets {
  take(client: string): Taken | Promise<Taken>
  /** Gives back the token that the client's last request took. */
  returnToken(client: string): void
}

interface LocalBuckets extends Buckets {
  take(client: string): Taken
}

interface Limiter extends Buckets {
  readonly rate: RateLimit
}

/** Creates buckets in the memory of this process. */
export function createBuckets(rate: RateLimit, now: () => number): LocalBuckets {
  const buckets = new LruMap<string, Bucket>(maxClients)
  return {
    take(client) {
      const time = now()
      const { bucket, waitMs } = takeToken(buckets.get(client) ?? fullBucket(rate, time), rate, time)
      buckets.set(client, bucket)
      return { tokens: bucket.tokens, waitMs }
    },
    returnToken(client) {
      const bucket = buckets.get(client)
      if (bucket === undefined) return
      buckets.set(client, { ...bucket, tokens: Math.min(rate.burst, bucket.tokens + 1) })
    },
  }
}

/** Creates buckets in Redis, which all processes share. Uses local buckets while Redis is unreachable. */
function createSharedBuckets(endpoint: string, rate: RateLimit, local: Buckets, redis: Redis): Buckets {
  return {
    take: async (client) => (await redis.takeToken(`${endpoint}:${client}`, rate)) ?? local.take(client),
    returnToken(client) {
      if (redis.isUp) redis.returnToken(`${endpoint}:${client}`, rate)
      else local.returnToken(client)
    },
  }
}

export interface RequestLimiter {
  /** Counts a request after authentication. Throws a RequestError when the limit is exceeded. */
  count(request: FastifyRequest, reply: FastifyReply): Counting
  /** Counts a rejected request by its client address, whatever credentials it contained. */
  countByAddress(request: FastifyRequest, reply: FastifyReply): Counting
  /** Replaces the limits, and resets the counts of this process. */
  setLimits(settings: RateLimitSettings): void
}

/** Resolves when Redis has counted the request; undefined if it was counted synchronously in this process. */
type Counting = Promise<void> | undefined

export function createRequestLimiter(
  app: FastifyInstance,
  settings: RateLimitSettings,
  { mount, redis }: Service,
): RequestLimiter {
  const createLimiter = (endpoint: string, { max_requests, window_seconds }: Limit): Limiter => {
    const rate: RateLimit = { perSecond: max_requests / window_seconds, burst: max_requests }
    const local = createBuckets(rate, () => performance.now())
    return { rate, ...(redis === null ? local : createSharedBuckets(endpoint, rate, local, redis)) }
  }
  const createLimiters = (limits: RateLimitSettings) => ({
    general: createLimiter('all', limits),
    pages: createLimiter('pages', { ...limits, max_requests: limits.max_requests * pageFactor }),
    special: new Map(
      Object.entries(limits.overrides).map(([endpoint, limit]) => {
        const name = endpoint.replace(/\{(\w+)\}/g, ':$1').replace(/\/$/, '')
        return [name, createLimiter(name, limit)]
      }),
    ),
  })
  let { general, pages, special } = createLimiters(settings)
  app.addHook('onRoute', (route) => {
    const endpoint = endpointOf(route, mount)
    if (endpoint !== null) route.config = { ...route.config, endpoint }
  })

  const counted = new WeakMap<FastifyRequest, CountedRequest>()

  function take(limiter: Limiter, client: string, reply: FastifyReply): Counting {
    const taken = limiter.take(client)
    if (taken instanceof Promise) return taken.then((result) => applyResult(limiter, result, reply))
    applyResult(limiter, taken, reply)
    return undefined
  }

  function countAs(limit: Limiter, client: string, request: FastifyRequest, reply: FastifyReply): Counting {
    const { endpoint, hasOwnLimit } = request.routeOptions.config
    // The address of an unknown route can be spelled in many ways, so all of them are counted.
    if (endpoint === undefined && !request.is404) return undefined
    const limiter = endpoint === undefined ? undefined : special.get(endpoint)
    if (limiter === undefined) return take(limit, client, reply)
    if (hasOwnLimit) return take(limiter, client, reply)
    const counting = take(limit, client, reply)
    const countForEndpoint = (): Counting => {
      const endpointCounting = take(limiter, client, reply)
      counted.set(request, { limiter, client })
      return endpointCounting
    }
    return counting === undefined ? countForEndpoint() : counting.then(countForEndpoint)
  }

  app.addHook('onSend', (request, reply, _payload, done) => {
    const { statusCode } = reply
    const { limiter, client } = special.size === 0 ? none : (counted.get(request) ?? none)
    // A request that is rejected with a 4xx status does not use up the limit of its endpoint.
    if (statusCode >= 400 && statusCode < 500) limiter?.returnToken(client)
    done()
  })

  return {
    count: (request, reply) =>
      request.routeOptions.config.isUnlimited
        ? undefined
        : countAs(isFromPage(request) ? pages : general, clientOf(request), request, reply),
    countByAddress(request, reply) {
      // Otherwise, more credentials could be tried at an endpoint with a high limit of its own.
      const isGeneral = request.routeOptions.config.hasOwnLimit === true
      const address = addressOf(request)
      return isGeneral ? take(general, address, reply) : countAs(general, address, request, reply)
    },
    setLimits(limits) {
      ;({ general, pages, special } = createLimiters(limits))
    },
  }
}

/** Returns the operation of the REST interface that a route serves, in the format of `rate_limit.overrides`. */
function endpointOf({ method, url }: RouteOptions, mount: string): string | null {
  const path = url.startsWith(`${mount}/`) ? url.slice(mount.length) : url
  if (!path.startsWith('/api/')) return null
  return `${method === 'HEAD' ? 'GET' : method} ${path.replace(/\/$/, '')}`
}

/** Sets the rate limit headers. Throws a RequestError when no token was available. */
function applyResult({ rate }: Limiter, { tokens, waitMs }: Taken, reply: FastifyReply): void {
  reply.header('x-ratelimit-limit', rate.burst)
  reply.header('x-ratelimit-remaining', Math.floor(tokens))
  reply.header('x-ratelimit-reset', Math.ceil((rate.burst - tokens) / rate.perSecond))
  if (waitMs > 0) throw new RequestError('rate_limited', { retryAfter: Math.ceil(waitMs / 1000) })
}

interface CountedRequest {
  readonly limiter?: Limiter
  readonly client: string
}

const none: CountedRequest = { client: '' }

/** Scripts in a browser cannot set this header. Browsers send it over TLS, and on the machine that runs Micwatch. */
function isFromPage({ headers }: FastifyRequest): boolean {
  return headers['sec-fetch-site'] === 'same-origin'
}

/**
 * Returns the key under which a client's requests are counted. Screens that share a kiosk token are counted separately,
 * by address.
 */
function clientOf(request: FastifyRequest): string {
  const { credential } = request
  if (credential === null) return addressOf(request)
  const isKiosk = credential.kind === 'token' && credential.csrfToken !== null
  return isKiosk ? `${credential.hash} ${addressOf(request)}` : credential.hash
}

/**
 * Returns the address under which a request is counted. IPv4 addresses are used as they are, which avoids parsing in
 * the common case.
 */
export function addressOf({ ip }: FastifyRequest): string {
  return ip.includes(':') ? clientKey(ip) : ip
}
