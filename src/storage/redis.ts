/**
 * Shares rate-limit buckets and new levels between processes through Redis or Valkey. Redis is optional: while it does
 * not respond, request limits apply per process, and levels reach other processes through the database.
 */

import type { Result } from 'ioredis'
import type { RateLimit } from '../domain/access/limits.ts'

export interface Redis {
  /**
   * Takes a token if there is one. Returns null if Redis is down or the command failed; the caller then has to use its
   * local bucket.
   */
  takeToken(key: string, limit: RateLimit): Promise<{ readonly tokens: number; readonly waitMs: number } | null>
  returnToken(key: string, limit: RateLimit): void
  /** Publishes a message to every subscribed process, including this one. */
  publish(topic: string, message: string | Buffer): void
  /** Subscribes to a topic without another subscriber. Returns a function that unsubscribes. */
  subscribe(topic: string, subscriber: TopicSubscriber): () => void
  readonly isUp: boolean
  close(): Promise<void>
}

export interface TopicSubscriber {
  /** May receive anything, because other programs may publish too. */
  onMessage(message: Buffer): void
  /** Called after every confirmed subscription, including those after an outage. */
  onSubscribed?(): void
}

export interface RedisOptions {
  readonly url: string
  readonly prefix: string
  onChange(isUp: boolean): void
}

/** Short, because HTTP requests wait for the response. */
const commandTimeoutMs = 200
const maxFailures = 3
/** The interval of heartbeats. They also detect that Redis, after being down, responds again. */
const heartbeatMs = 1000

const connectionOptions = {
  lazyConnect: true,
  enableOfflineQueue: false,
  enableAutoPipelining: true,
  maxRetriesPerRequest: 0,
  commandTimeout: commandTimeoutMs,
  connectTimeout: 2000,
  retryStrategy: (times: number) => Math.min(2000, 100 * 2 ** Math.min(times, 6)),
} as const

export async function openRedis({ url, prefix, onChange }: RedisOptions): Promise<Redis> {
  const { default: ioredis } = await import('ioredis')
  const { Redis } = ioredis
  const commands = new Redis(url, connectionOptions)
  const connection = new Redis(url, { ...connectionOptions, enableAutoPipelining: false, autoResubscribe: false })
  commands.defineCommand('takeToken', { numberOfKeys: 1, lua: takeScript })
  commands.defineCommand('returnToken', { numberOfKeys: 1, lua: returnScript })
  const subscribers = new Map<string, TopicSubscriber>()
  let failures = maxFailures
  let isUp = false
  let isClosed = false

  const setFailures = (count: number) => {
    failures = count
    const isUpNow = failures < maxFailures
    if (isUpNow === isUp || isClosed) return
    isUp = isUpNow
    onChange(isUp)
  }
  /** Sends a command; returns null if it fails or there is no response in time. */
  async function send<T>(command: () => Promise<T>): Promise<T | null> {
    try {
      const response = await command()
      setFailures(0)
      return response
    } catch {
      setFailures(failures + 1)
      return null
    }
  }
  const sendHeartbeat = async () => {
    await send(() => commands.ping())
    // Without commands, the connection that receives messages would not detect a lost peer.
    if (connection.status === 'ready') await connection.ping().catch(() => connection.disconnect(true))
  }
  const subscribe = async (topics: readonly string[]) => {
    if (topics.length === 0) return
    try {
      await connection.subscribe(...topics)
      for (const topic of topics) subscribers.get(topic)?.onSubscribed?.()
    } catch {
      // Subscribes to everything again when it is connected.
      connection.disconnect(true)
    }
  }

  for (const client of [commands, connection]) client.on('error', () => {})
  commands.on('close', () => setFailures(maxFailures))
  connection.on('ready', () => void subscribe([...subscribers.keys()]))
  connection.on('messageBuffer', (topic: Buffer, message: Buffer) => subscribers.get(String(topic))?.onMessage(message))
  // Connecting is not awaited: Redis is treated as up after the first heartbeat response.
  for (const client of [commands, connection]) client.connect().catch(() => {})
  commands.once('ready', () => void sendHeartbeat())
  const heartbeat = setInterval(() => void sendHeartbeat(), heartbeatMs)

  return {
    async takeToken(key, { burst, perSecond }) {
      if (!isUp) return null
      const response = await send(() => commands.takeToken(`${prefix}:bucket:${key}`, burst, perSecond / 1000))
      return response === null ? null : { tokens: Number(response[0]), waitMs: response[1] }
    },
    returnToken(key, { burst }) {
      if (isUp) void send(() => commands.returnToken(`${prefix}:bucket:${key}`, burst))
    },
    publish(topic, message) {
      if (isUp) void send(() => commands.publish(`${prefix}:${topic}`, message))
    },
    subscribe(topic, subscriber) {
      const name = `${prefix}:${topic}`
      subscribers.set(name, subscriber)
      if (connection.status === 'ready') void subscribe([name])
      return () => {
        subscribers.delete(name)
        if (connection.status === 'ready') connection.unsubscribe(name).catch(() => connection.disconnect(true))
      }
    },
    get isUp() {
      return isUp
    },
    async close() {
      isClosed = true
      clearInterval(heartbeat)
      commands.disconnect()
      connection.disconnect()
    },
  }
}

export async function pingRedis(url: string): Promise<string | null> {
  const { default: ioredis } = await import('ioredis')
  const client = new ioredis.Redis(url, { ...connectionOptions, commandTimeout: 2000, retryStrategy: () => null })
  let reason: string | null = null
  client.on('error', (error: Error & { code?: string }) => {
    reason = error.message || String(error.code)
  })
  try {
    await client.connect()
    await client.ping()
    return null
  } catch (error) {
    return reason ?? (error as Error).message
  } finally {
    client.disconnect()
  }
}

declare module 'ioredis' {
  interface RedisCommander<Context> {
    takeToken(key: string, burst: number, perMs: number): Result<[string, number], Context>
    returnToken(key: string, burst: number): Result<null, Context>
  }
}

/**
 * The token bucket of domain/access/limits.ts in Lua, using the server's clock, which all processes share. If the
 * key holds data of another type, that data is discarded. The key expires shortly after the bucket is full again.
 */
const readBucket = `
local burst = tonumber(ARGV[1])
local stored = redis.pcall('HMGET', KEYS[1], 'tokens', 'at')
if stored.err then redis.call('DEL', KEYS[1]); stored = {} end
local tokens = tonumber(stored[1] or burst) or burst
if not (tokens >= 0 and tokens <= burst) then tokens = burst end`

const takeScript = `${readBucket}
local perMs = tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local updatedAt = tonumber(stored[2] or now) or now
if updatedAt ~= updatedAt or updatedAt > now then updatedAt = now end
tokens = math.min(burst, tokens + (now - updatedAt) * perMs)
local wait = 0
if tokens >= 1 then tokens = tokens - 1 else wait = math.ceil((1 - tokens) / perMs) end
redis.call('HSET', KEYS[1], 'tokens', string.format('%.6f', tokens), 'at', string.format('%.0f', now))
redis.call('PEXPIRE', KEYS[1], math.ceil((burst - tokens) / perMs) + 1000)
return {string.format('%.6f', tokens), wait}`

const returnScript = `${readBucket}
if stored[1] then redis.call('HSET', KEYS[1], 'tokens', string.format('%.6f', math.min(burst, tokens + 1))) end
return nil`
