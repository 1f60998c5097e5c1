/**
 * What several processes share through Redis or Valkey: what is left in everybody's token bucket, and word of what one
 * of them has just heard. Nothing here is needed: while it does not answer, each process goes on alone.
 */

import type { Result } from 'ioredis'
import type { RateLimit } from '../model/rate-limit.ts'

export interface Redis {
  /** Takes a token where there is one; null when nobody answered, so that the caller decides alone. */
  takeToken(key: string, pace: RateLimit): Promise<{ readonly tokens: number; readonly waitMs: number } | null>
  /** As if the last one had not been taken. */
  returnToken(key: string, pace: RateLimit): void
  /** To every other process that listens at this moment. */
  publish(topic: string, text: string): void
  /** Hears what others tell; text of any kind may arrive. */
  subscribe(topic: string, hear: (text: string) => void): void
  readonly isUp: boolean
  close(): Promise<void>
}

export interface RedisOptions {
  readonly url: string
  /** Keeps apart what houses on one Redis say. */
  readonly prefix: string
  /** Hears of every change between up and down. */
  onChange(isUp: boolean): void
}

/** Whoever asks is a person waiting for a page: better to decide alone than to make them wait. */
const answerMs = 200
/** After so many unanswered calls in a row nobody waits any more … */
const patience = 3
/** … until a heartbeat is answered again. */
const heartbeatMs = 1000

const quick = {
  lazyConnect: true,
  enableOfflineQueue: false,
  enableAutoPipelining: true,
  maxRetriesPerRequest: 0,
  commandTimeout: answerMs,
  connectTimeout: 2000,
  retryStrategy: (times: number) => Math.min(2000, 100 * 2 ** Math.min(times, 6)),
} as const

export async function openRedis({ url, prefix, onChange }: RedisOptions): Promise<Redis> {
  const { default: ioredis } = await import('ioredis')
  const { Redis } = ioredis
  const asking = new Redis(url, quick)
  const listening = new Redis(url, { ...quick, enableAutoPipelining: false, autoResubscribe: false })
  asking.defineCommand('takeToken', { numberOfKeys: 1, lua: takeScript })
  asking.defineCommand('giveTokenBack', { numberOfKeys: 1, lua: giveBackScript })
  const topics = new Map<string, (text: string) => void>()
  let unanswered = patience
  let isUp = false

  const settle = (failures: number) => {
    unanswered = failures
    const isUpNow = failures < patience
    if (isUpNow === isUp) return
    isUp = isUpNow
    onChange(isUp)
  }
  /** Null when there is no answer in time. */
  async function ask<T>(question: () => Promise<T>): Promise<T | null> {
    try {
      const answer = await question()
      settle(0)
      return answer
    } catch {
      settle(unanswered + 1)
      return null
    }
  }
  const beat = async () => {
    await ask(() => asking.ping())
    // A connection that only listens would not notice that nobody is at the other end.
    if (listening.status === 'ready') await listening.ping().catch(() => listening.disconnect(true))
  }
  const subscribe = () => {
    if (topics.size > 0) listening.subscribe(...topics.keys()).catch(() => listening.disconnect(true))
  }

  for (const client of [asking, listening]) client.on('error', () => {})
  asking.on('close', () => settle(patience))
  listening.on('ready', subscribe)
  listening.on('message', (topic: string, text: string) => topics.get(topic)?.(text))
  // Nobody waits for it: it is there from the first answered heartbeat on.
  for (const client of [asking, listening]) client.connect().catch(() => {})
  asking.once('ready', () => void beat())
  const heart = setInterval(() => void beat(), heartbeatMs)

  return {
    async takeToken(key, { burst, perSecond }) {
      if (!isUp) return null
      const answer = await ask(() => asking.takeToken(`${prefix}:bucket:${key}`, burst, perSecond / 1000))
      return answer === null ? null : { tokens: Number(answer[0]), waitMs: answer[1] }
    },
    returnToken(key, { burst }) {
      if (isUp) void ask(() => asking.giveTokenBack(`${prefix}:bucket:${key}`, burst))
    },
    publish(topic, text) {
      if (isUp) void ask(() => asking.publish(`${prefix}:${topic}`, text))
    },
    subscribe(topic, hear) {
      topics.set(`${prefix}:${topic}`, hear)
      if (listening.status === 'ready') subscribe()
    },
    get isUp() {
      return isUp
    },
    async close() {
      clearInterval(heart)
      asking.disconnect()
      listening.disconnect()
    },
  }
}

declare module 'ioredis' {
  interface RedisCommander<Context> {
    takeToken(key: string, burst: number, perMs: number): Result<[string, number], Context>
    giveTokenBack(key: string, burst: number): Result<null, Context>
  }
}

/**
 * `takeToken` of model/pace.ts on the server's clock, which all processes share. Whatever else lies under the key counts
 * for nothing. A bucket that is full again is forgotten.
 */
const readBucket = `
local burst = tonumber(ARGV[1])
local kept = redis.pcall('HMGET', KEYS[1], 'tokens', 'at')
if kept.err then redis.call('DEL', KEYS[1]); kept = {} end
local tokens = tonumber(kept[1] or burst) or burst
if not (tokens >= 0 and tokens <= burst) then tokens = burst end`

const takeScript = `${readBucket}
local perMs = tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local at = tonumber(kept[2] or now) or now
if at ~= at or at > now then at = now end
tokens = math.min(burst, tokens + (now - at) * perMs)
local wait = 0
if tokens >= 1 then tokens = tokens - 1 else wait = math.ceil((1 - tokens) / perMs) end
redis.call('HSET', KEYS[1], 'tokens', string.format('%.6f', tokens), 'at', string.format('%.0f', now))
redis.call('PEXPIRE', KEYS[1], math.ceil((burst - tokens) / perMs) + 1000)
return {string.format('%.6f', tokens), wait}`

const giveBackScript = `${readBucket}
if kept[1] then redis.call('HSET', KEYS[1], 'tokens', string.format('%.6f', math.min(burst, tokens + 1))) end
return nil`
