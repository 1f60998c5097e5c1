/** A system of the second kind: HTTP Basic, third-party access that may be off, changes pushed as an event stream. */

import { randomUUID, timingSafeEqual } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { type Asked, type Reply, startDeviceApi, type Verdict } from '../../simulation/device-api.ts'
import { startBeat, wholeDevice } from '../../simulation/push.ts'
import {
  type Links,
  type Simulator,
  type SimulatorOptions,
  type Stage,
  setStage,
  toSimulator,
} from '../../simulation/simulator.ts'

export interface SennheiserSimulatorOptions extends SimulatorOptions {
  readonly password?: string
  /** Third-party access, as its owner switched it. */
  readonly access?: boolean
  /** A comment every so often keeps a quiet stream alive; 15 s unless told, null: none. */
  readonly keepAliveMs?: number | null
}

export interface SennheiserSimulator extends Simulator {
  /** Switching it off ends all streams. */
  setAccess(isOn: boolean): void
}

interface Session {
  readonly id: string
  readonly response: ServerResponse
  paths: ReadonlySet<string>
}

/** A resource and what changed of it; null: it is gone. */
type Change = [path: string, value: object | null]

const subscriptionsPath = '/api/ssc/state/subscriptions'
const devicePrefix = '/api/v1/devices/'

export async function startSennheiserSimulator(options: SennheiserSimulatorOptions = {}): Promise<SennheiserSimulator> {
  const { password = 'stage-right-password', keepAliveMs = 15_000 } = options
  const stage = setStage('sennheiser', 11, options)
  const sessions = createSessions(stage, { isSilent: () => api.isSilent(), onOpen: () => beat.listen() })
  let access = options.access ?? true

  const api = await startDeviceApi(
    {
      ...stage,
      authorize: (asked) => (access ? checkBasic(asked, password) : accessIsOff),
      answer: sessions.answer,
      dropLinks: sessions.drop,
    },
    options,
  )
  const beat = startBeat({
    ...stage,
    perSecond: options.pushesPerSecond ?? 5,
    isHeard: () => sessions.count() > 0,
    tell(news) {
      const changes = news.map(({ id, fields, status }): Change => {
        const value = status === undefined ? fields : { ...fields, status }
        return [devicePrefix + encodeURIComponent(id), status === 'removed' ? null : value]
      })
      sessions.tell(changes)
    },
  })
  const keepAlive = keepAliveMs === null ? undefined : setInterval(sessions.keepAlive, keepAliveMs)
  const links: Links = {
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
  return Object.assign(toSimulator(stage, { api, beat, links, config }), {
    setAccess(isOn: boolean) {
      access = isOn
      if (!isOn) void sessions.end()
    },
  })
}

// --- Event streams ----------------------------------------------------------------------------------------------------

function createSessions(stage: Stage, about: { isSilent: () => boolean; onOpen: () => void }) {
  const { show, manufacturer, elapsed } = stage
  const { isSilent, onOpen } = about
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
  /** All paths or none: one that names no device refuses the whole list. */
  const subscribe = (session: Session, paths: readonly string[]): Reply => {
    const added: [string, object][] = []
    for (const path of paths) {
      const state = path.startsWith(devicePrefix) ? show.deviceAt(elapsed(), readId(path)) : undefined
      if (state?.device.manufacturer !== manufacturer) return { status: 404, body: { path, error: 404 } }
      if (!session.paths.has(path)) added.push([path, wholeDevice(state)])
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
    answer({ method, path, headers, body }: Asked): Reply | undefined {
      if (path === subscriptionsPath) {
        if (method !== 'GET') return refuse(405, 'not allowed')
        const isStream = headers.accept?.includes('text/event-stream') ?? false
        return isStream ? { stream: open } : refuse(400, 'expected Accept: text/event-stream')
      }
      if (!path.startsWith(`${subscriptionsPath}/`)) return undefined
      const session = sessions.get(path.slice(subscriptionsPath.length + 1))
      if (session === undefined) return refuse(422, 'unknown session')
      switch (method) {
        case 'GET':
          return { status: 200, body: [...session.paths] }
        case 'PUT': {
          const paths = parsePaths(body)
          return paths === null ? refuse(400, 'expected an array of paths') : subscribe(session, paths)
        }
        case 'DELETE':
          void end(session)
          return { status: 200 }
        default:
          return refuse(405, 'not allowed')
      }
    },
    /** One event a session, with everything it has subscribed. */
    tell(changes: readonly Change[]) {
      for (const session of sessions.values()) {
        const own = changes.filter(([path]) => session.paths.has(path))
        if (own.length > 0) write(session, 'message', JSON.stringify(Object.fromEntries(own)))
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

function refuse(status: number, error: string): Reply {
  return { status, body: { error, status } }
}

// --- Authentication ---------------------------------------------------------------------------------------------------

const accessIsOff: Verdict = {
  ok: false,
  reason: 'access-off',
  answer: { status: 403, body: { error: 'third-party access is disabled', status: 403 } },
}

function checkBasic(asked: Asked, password: string): Verdict {
  const [, encoded = ''] = /^Basic\s+(\S+)$/i.exec(asked.headers.authorization ?? '') ?? []
  const given = Buffer.from(encoded, 'base64')
  const wanted = Buffer.from(`api:${password}`)
  if (given.length === wanted.length && timingSafeEqual(given, wanted)) return { ok: true }
  return {
    ok: false,
    reason: encoded === '' ? 'no-credentials' : 'wrong-credentials',
    answer: {
      status: 401,
      headers: { 'www-authenticate': 'Basic realm="SSC", charset="UTF-8"' },
      body: { error: 'unauthorized', status: 401 },
    },
  }
}
