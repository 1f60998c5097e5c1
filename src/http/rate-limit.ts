/** How much each client may ask: a token bucket for all of REST, and smaller ones for what is dear. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Redis } from '../live/redis.ts'
import { clientKey } from '../model/address.ts'
import { RequestError } from '../model/errors.ts'
import { type Bucket, fullBucket, type RateLimit, takeToken } from '../model/rate-limit.ts'

interface Limit {
  readonly max_requests: number
  readonly window_seconds: number
}

export interface RateLimitSettings extends Limit {
  /** By endpoint: `POST /api/discover/`. They count beside the limit for all. */
  readonly overrides: Readonly<Record<string, Limit>>
}

/** Strangers may come from anywhere; the one that was silent longest is forgotten first. */
const maxClients = 50_000

/** What is left after a token was taken; `waitMs` above 0: there was none. */
interface Taken {
  readonly tokens: number
  readonly waitMs: number
}

interface Buckets {
  take(client: string): Taken | Promise<Taken>
  /** As if the last one had not been. */
  giveBack(client: string): void
}

interface OwnBuckets extends Buckets {
  take(client: string): Taken
}

interface Limiter extends Buckets {
  readonly pace: RateLimit
}

/** The buckets of this process. */
export function createBuckets(pace: RateLimit, now: () => number): OwnBuckets {
  const buckets = new Map<string, Bucket>()
  const keep = (client: string, bucket: Bucket) => {
    // The order of a map is that of insertion: whoever asked last stands last.
    buckets.delete(client)
    buckets.set(client, bucket)
    if (buckets.size <= maxClients) return
    for (const oldest of buckets.keys()) {
      buckets.delete(oldest)
      break
    }
  }
  return {
    take(client) {
      const time = now()
      const { bucket, waitMs } = takeToken(buckets.get(client) ?? fullBucket(pace, time), pace, time)
      keep(client, bucket)
      return { tokens: bucket.tokens, waitMs }
    },
    giveBack(client) {
      const bucket = buckets.get(client)
      if (bucket === undefined) return
      buckets.set(client, { ...bucket, tokens: Math.min(pace.burst, bucket.tokens + 1) })
    },
  }
}

/** The buckets all processes share, or this one's own for as long as those are out of reach. */
function createSharedBuckets(endpoint: string, pace: RateLimit, own: Buckets, shared: Redis): Buckets {
  return {
    take: async (client) => (await shared.takeToken(`${endpoint}:${client}`, pace)) ?? own.take(client),
    giveBack(client) {
      if (shared.isUp) shared.returnToken(`${endpoint}:${client}`, pace)
      else own.giveBack(client)
    },
  }
}

export interface RequestLimiter {
  /** Once it is known who asks. Throws the refusal when there was too much. */
  count(request: FastifyRequest, reply: FastifyReply): Counting
  /** Somebody who was turned away: counted by address, whoever they said they were. */
  countStranger(request: FastifyRequest, reply: FastifyReply): Counting
}

/** What is counted in this process is counted at once. */
type Counting = Promise<void> | undefined

export interface RequestLimiterOptions {
  /** What REST paths begin with. */
  readonly mount: string
  /** Where several processes count together. */
  readonly shared: Redis | null
}

export function createRequestLimiter(
  app: FastifyInstance,
  settings: RateLimitSettings,
  { mount, shared }: RequestLimiterOptions,
): RequestLimiter {
  const prefix = `${mount}/api/`
  const createLimiter = (endpoint: string, { max_requests, window_seconds }: Limit): Limiter => {
    const pace: RateLimit = { perSecond: max_requests / window_seconds, burst: max_requests }
    const own = createBuckets(pace, () => performance.now())
    return { pace, ...(shared === null ? own : createSharedBuckets(endpoint, pace, own, shared)) }
  }
  const general = createLimiter('all', settings)
  const special = new Map(
    Object.entries(settings.overrides).map(([endpoint, limit]) => {
      // `PUT /api/groups/{id}/` as the route is registered.
      const route = endpoint.replace(/\{(\w+)\}/g, ':$1').replace(/\/$/, '')
      const name = route.replace(' ', ` ${mount}`)
      return [name, createLimiter(name, limit)]
    }),
  )
  const limiterOf = ({ method, routeOptions: { url = '' } }: FastifyRequest) =>
    special.size === 0 ? undefined : special.get(`${method} ${url.replace(/\/$/, '')}`)

  const counted = new WeakMap<FastifyRequest, Counted>()

  function take(limiter: Limiter, client: string, reply: FastifyReply): Counting {
    const taken = limiter.take(client)
    if (taken instanceof Promise) return taken.then((later) => tell(limiter, later, reply))
    tell(limiter, taken, reply)
    return undefined
  }

  function countAs(client: string, request: FastifyRequest, reply: FastifyReply): Counting {
    if (!request.url.startsWith(prefix)) return undefined
    const counting = take(general, client, reply)
    const limiter = limiterOf(request)
    if (limiter === undefined) return counting
    const countHere = (): Counting => {
      const countingHere = take(limiter, client, reply)
      counted.set(request, { limiter, client })
      return countingHere
    }
    return counting === undefined ? countHere() : counting.then(countHere)
  }

  app.addHook('onSend', (request, reply, _payload, done) => {
    const { statusCode } = reply
    const { limiter, client } = special.size === 0 ? none : (counted.get(request) ?? none)
    // What was refused was not done.
    if (statusCode >= 400 && statusCode < 500) limiter?.giveBack(client)
    done()
  })

  return {
    count: (request, reply) => countAs(clientOf(request), request, reply),
    countStranger: (request, reply) => countAs(addressOf(request), request, reply),
  }
}

/** What is left, in the answer's head; throws the refusal when there was nothing. */
function tell({ pace }: Limiter, { tokens, waitMs }: Taken, reply: FastifyReply): void {
  reply.header('x-ratelimit-limit', pace.burst)
  reply.header('x-ratelimit-remaining', Math.floor(tokens))
  reply.header('x-ratelimit-reset', Math.ceil((pace.burst - tokens) / pace.perSecond))
  if (waitMs > 0) throw new RequestError('rate_limited', { retryAfter: Math.ceil(waitMs / 1000) })
}

interface Counted {
  readonly limiter?: Limiter
  readonly client: string
}

const none: Counted = { client: '' }

/** Screens that share the token of one kiosk link count each for itself. */
function clientOf(request: FastifyRequest): string {
  const { credential } = request
  if (credential === null) return addressOf(request)
  const isKiosk = credential.kind === 'token' && credential.csrfToken !== null
  return isKiosk ? `${credential.hash} ${addressOf(request)}` : credential.hash
}

/** IPv4 stands for itself: the common case costs nothing. */
function addressOf({ ip }: FastifyRequest): string {
  return ip.includes(':') ? clientKey(ip) : ip
}
