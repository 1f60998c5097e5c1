/**
 * Simulates a Sennheiser system that implements the common device API: HTTP Basic, third-party access that can be
 * disabled, and changes pushed over an event stream.
 */

import { randomUUID, timingSafeEqual } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { type ApiRequest, type AuthorizationResult, type Reply, startDeviceApi } from '../show/device-api.ts'
import { allFields, startPushTimer } from '../show/push.ts'
import {
  createShowContext,
  type PushConnections,
  type ShowContext,
  type Simulator,
  type SimulatorOptions,
  toSimulator,
} from '../show/simulator.ts'

export interface SennheiserSimulatorOptions extends SimulatorOptions {
  readonly password?: string
  /** True if third-party access is enabled. */
  readonly access?: boolean
  /** Interval of the comments that keep an idle stream open; default 15 s, null for none. */
  readonly keepAliveMs?: number | null
}

export interface SennheiserSimulator extends Simulator {
  /** Enables or disables third-party access. Disabling it ends all streams. */
  setAccess(isOn: boolean): void
}

interface Session {
  readonly id: string
  readonly response: ServerResponse
  paths: ReadonlySet<string>
}

/** A resource and its changed fields; null if the resource was removed. */
type Change = [path: string, value: object | null]

const subscriptionsPath = '/api/ssc/state/subscriptions'
const devicePrefix = '/api/v1/devices/'

export async function startSennheiserSimulator(options: SennheiserSimulatorOptions = {}): Promise<SennheiserSimulator> {
  const { password = 'stage-right-password', keepAliveMs = 15_000 } = options
  const context = createShowContext('sennheiser', 11, options)
  const sessions = createSessions(context, { isSilent: () => api.isSilent(), onOpen: () => pushTimer.start() })
  let access = options.access ?? true

  const api = await startDeviceApi(
    {
      ...context,
      authorize: (apiRequest) => (access ? checkBasic(apiRequest, password) : accessDisabled),
      handle: sessions.handle,
      dropConnections: sessions.drop,
    },
    options,
  )
  const pushTimer = startPushTimer({
    ...context,
    perSecond: options.pushesPerSecond ?? 5,
    hasSubscribers: () => sessions.count() > 0,
    publish(deviceChanges) {
      const changes = deviceChanges.map(({ id, fields, status }): Change => {
        const value = status === undefined ? fields : { ...fields, status }
        return [devicePrefix + encodeURIComponent(id), status === 'removed' ? null : value]
      })
      sessions.publish(changes)
    },
  })
  const keepAlive = keepAliveMs === null ? undefined : setInterval(sessions.keepAlive, keepAliveMs)
  const connections: PushConnections = {
    ...sessions,
    async close() {
      clearInterval(keepAlive)
      await sessions.end()
    },
  }

  const config = {
    api_base_url: api.baseUrl,
    password,
    ...(options.tls === undefined ? {} : { ssl_verify: false }),
  }
  return Object.assign(toSimulator(context, { api, pushTimer, connections, config }), {
    setAccess(isOn: boolean) {
      access = isOn
      if (!isOn) void sessions.end()
    },
  })
}

// --- Event streams ----------------------------------------------------------------------------------------------------

function createSessions(context: ShowContext, callbacks: { isSilent: () => boolean; onOpen: () => void }) {
  const { show, manufacturer, elapsed } = context
  const { isSilent, onOpen } = callbacks
  const sessions = new Map<string, Session>()
  let sent = 0

  const write = (session: Session, event: string, data: string) => {
    if (isSilent()) return
    sent++
    session.response.write(toEvent(event, data))
  }
  const open = (response: ServerResponse) => {
    const id = randomUUID()
    const session: Session = { id, response, paths: new Set() }
    sessions.set(id, session)
    response.on('close', () => sessions.delete(id))
    const path = `${subscriptionsPath}/${id}`
    const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'content-location': path }
    response.writeHead(200, headers).flushHeaders()
    write(session, 'open', JSON.stringify({ path, sessionUUID: id }))
    onOpen()
  }
  /** Subscribes to all paths or none: if one path does not name a device, the whole list is rejected. */
  const subscribe = (session: Session, paths: readonly string[]): Reply => {
    const added: [string, object][] = []
    for (const path of paths) {
      const state = path.startsWith(devicePrefix) ? show.deviceAt(elapsed(), readId(path)) : undefined
      if (state?.device.manufacturer !== manufacturer) return { status: 404, body: { path, error: 404 } }
      if (!session.paths.has(path)) added.push([path, allFields(state)])
    }
    session.paths = new Set(paths)
    for (const [path, value] of added) write(session, 'message', JSON.stringify({ [path]: value }))
    return { status: 200, body: [...session.paths] }
  }
  const end = (session: Session): Promise<void> => {
    sessions.delete(session.id)
    const data = JSON.stringify({ path: `${subscriptionsPath}/${session.id}`, sessionUUID: session.id })
    return new Promise((resolve) => {
      session.response.on('close', resolve)
      session.response.end(isSilent() ? undefined : toEvent('close', data), resolve)
    })
  }

  return {
    count: () => sessions.size,
    sent: () => sent,
    handle({ method, path, headers, body }: ApiRequest): Reply | undefined {
      if (path === subscriptionsPath) {
        if (method !== 'GET') return toErrorReply(405, 'not allowed')
        const isStream = headers.accept?.includes('text/event-stream') ?? false
        return isStream ? { stream: open } : toErrorReply(400, 'expected Accept: text/event-stream')
      }
      if (!path.startsWith(`${subscriptionsPath}/`)) return undefined
      const session = sessions.get(path.slice(subscriptionsPath.length + 1))
      if (session === undefined) return toErrorReply(422, 'unknown session')
      switch (method) {
        case 'GET':
          return { status: 200, body: [...session.paths] }
        case 'PUT': {
          const paths = parsePaths(body)
          return paths === null ? toErrorReply(400, 'expected an array of paths') : subscribe(session, paths)
        }
        case 'DELETE':
          void end(session)
          return { status: 200 }
        default:
          return toErrorReply(405, 'not allowed')
      }
    },
    /** Sends one event per session, with the changes of its subscribed paths. */
    publish(changes: readonly Change[]) {
      for (const session of sessions.values()) {
        const subscribed = changes.filter(([path]) => session.paths.has(path))
        if (subscribed.length > 0) write(session, 'message', JSON.stringify(Object.fromEntries(subscribed)))
      }
    },
    send(text: string) {
      for (const session of sessions.values()) write(session, 'message', text)
    },
    keepAlive() {
      if (isSilent()) return
      for (const { response } of sessions.values()) response.write(': keep-alive\n\n')
    },
    drop() {
      for (const { response } of sessions.values()) response.destroy()
    },
    end: () => Promise.all([...sessions.values()].map(end)),
  }
}

function toEvent(event: string, data: string): string {
  const lines = data.split('\n').map((line) => `data: ${line}\n`)
  return `event: ${event}\n${lines.join('')}\n`
}

function readId(path: string): string {
  try {
    return decodeURIComponent(path.slice(devicePrefix.length))
  } catch {
    return path.slice(devicePrefix.length)
  }
}

function parsePaths(body: string): string[] | null {
  try {
    const paths: unknown = JSON.parse(body)
    return Array.isArray(paths) && paths.every((path) => typeof path === 'string') ? paths : null
  } catch {
    return null
  }
}

function toErrorReply(status: number, error: string): Reply {
  return { status, body: { error, status } }
}

// --- Authentication ---------------------------------------------------------------------------------------------------

const accessDisabled: AuthorizationResult = {
  ok: false,
  reason: 'access-off',
  response: { status: 403, body: { error: 'third-party access is disabled', status: 403 } },
}

function checkBasic(apiRequest: ApiRequest, password: string): AuthorizationResult {
  const [, encoded = ''] = /^Basic\s+(\S+)$/i.exec(apiRequest.headers.authorization ?? '') ?? []
  const received = Buffer.from(encoded, 'base64')
  const expected = Buffer.from(`api:${password}`)
  if (received.length === expected.length && timingSafeEqual(received, expected)) return { ok: true }
  return {
    ok: false,
    reason: encoded === '' ? 'no-credentials' : 'wrong-credentials',
    response: {
      status: 401,
      headers: { 'www-authenticate': 'Basic realm="SSC", charset="UTF-8"' },
      body: { error: 'unauthorized', status: 401 },
    },
  }
}
