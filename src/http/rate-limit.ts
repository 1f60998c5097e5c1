/** How much each client may ask: a token bucket for all of REST, and smaller ones for what is dear. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { strangerKey } from '../model/address.ts'
import { Refusal } from '../model/errors.ts'
import { type Bucket, fullBucket, type Pace, takeToken } from '../model/pace.ts'

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

export interface Limiter {
  readonly limit: number
  /** What is left afterwards; `waitMs` above 0: refused. */
  take(client: string): { readonly remaining: number; readonly resetSeconds: number; readonly waitMs: number }
  /** As if the last one had not been. */
  giveBack(client: string): void
}

export function createLimiter({ max_requests, window_seconds }: Limit, now: () => number): Limiter {
  const pace: Pace = { perSecond: max_requests / window_seconds, burst: max_requests }
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
    limit: max_requests,
    take(client) {
      const time = now()
      const { bucket, waitMs } = takeToken(buckets.get(client) ?? fullBucket(pace, time), pace, time)
      keep(client, bucket)
      const resetSeconds = Math.ceil((max_requests - bucket.tokens) / pace.perSecond)
      return { remaining: Math.floor(bucket.tokens), resetSeconds, waitMs }
    },
    giveBack(client) {
      const bucket = buckets.get(client)
      if (bucket === undefined) return
      buckets.set(client, { ...bucket, tokens: Math.min(max_requests, bucket.tokens + 1) })
    },
  }
}

export interface RateLimit {
  /** Once it is known who asks. Throws the refusal when there was too much. */
  count(request: FastifyRequest, reply: FastifyReply): void
  /** Somebody who was turned away: counted by address, whoever they said they were. */
  countStranger(request: FastifyRequest, reply: FastifyReply): void
}

/** `mount`: what REST paths begin with. */
export function createRateLimit(
  app: FastifyInstance,
  settings: RateLimitSettings,
  { mount, now = () => performance.now() }: { mount: string; now?: () => number },
): RateLimit {
  const prefix = `${mount}/api/`
  const general = createLimiter(settings, now)
  const special = new Map(
    Object.entries(settings.overrides).map(([endpoint, limit]) => [
      endpoint.replace(' ', ` ${mount}`).replace(/\/$/, ''),
      createLimiter(limit, now),
    ]),
  )
  const limiterOf = ({ method, routeOptions: { url = '' } }: FastifyRequest) =>
    special.size === 0 ? undefined : special.get(`${method} ${url.replace(/\/$/, '')}`)

  const counted = new WeakMap<FastifyRequest, Counted>()

  function take(limiter: Limiter, client: string, reply: FastifyReply): void {
    const { remaining, resetSeconds, waitMs } = limiter.take(client)
    reply.header('x-ratelimit-limit', limiter.limit)
    reply.header('x-ratelimit-remaining', remaining)
    reply.header('x-ratelimit-reset', resetSeconds)
    if (waitMs > 0) throw new Refusal('rate_limited', { retryAfter: Math.ceil(waitMs / 1000) })
  }

  function countAs(client: string, request: FastifyRequest, reply: FastifyReply): void {
    if (!request.url.startsWith(prefix)) return
    take(general, client, reply)
    const limiter = limiterOf(request)
    if (limiter === undefined) return
    take(limiter, client, reply)
    counted.set(request, { limiter, client })
  }

  app.addHook('onSend', (request, reply, _payload, done) => {
    const { statusCode } = reply
    const { limiter, client } = special.size === 0 ? none : (counted.get(request) ?? none)
    // What was refused was not done.
    if (statusCode >= 400 && statusCode < 500) limiter?.giveBack(client)
    done()
  })

  return {
    count: (request, reply) => countAs(request.credential?.hash ?? addressOf(request), request, reply),
    countStranger: (request, reply) => countAs(addressOf(request), request, reply),
  }
}

interface Counted {
  readonly limiter?: Limiter
  readonly client: string
}

const none: Counted = { client: '' }

/** IPv4 stands for itself: the common case costs nothing. */
function addressOf({ ip }: FastifyRequest): string {
  return ip.includes(':') ? strangerKey(ip) : ip
}
