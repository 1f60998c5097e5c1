/** Clients that are slow, numerous, silent, disconnected or hostile do not affect other clients. */

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import WebSocket from 'ws'
import { watchHealth } from '../../bench/health-watch.ts'
import { configFor, createInstallation, shellLauncher, startShure, until, withoutPush } from '../support/app.ts'
import { onTestEnd } from '../support/cleanup.ts'
import { openRaw } from '../support/faults/raw-socket.ts'
import { openSilent } from '../support/faults/silent-socket.ts'
import { timeLimit } from '../support/time-limit.ts'
import { cookieOf } from '../support/users.ts'

async function serveWithDescriptors(descriptors: number, config: object = {}) {
  const installation = await createInstallation(config)
  return installation.serve(['--no-poll'], {}, shellLauncher(`ulimit -n ${descriptors}`))
}

function openFrom(port: number, localAddress: string) {
  const socket = connect({ port, host: '127.0.0.1', localAddress }).on('error', () => {})
  onTestEnd(() => socket.destroy())
  let isClosed = false
  socket.once('close', () => {
    isClosed = true
  })
  return { socket, isClosed: () => isClosed }
}

/** Opens a connection, sends a request, and keeps the connection open. `answer` is empty if it was closed before. */
async function openKept(port: number, localAddress: string) {
  const opened = openFrom(port, localAddress)
  opened.socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n')
  const answer = await Promise.race([once(opened.socket, 'data'), once(opened.socket, 'close')])
  return { ...opened, answer: String(answer[0]) }
}

/** The longest time that a liveness check may take, whatever other clients do. */
const limitMs = timeLimit(500)

describe('connections', () => {
  // Reliability: 1.20, 3.12.4.
  it('that send nothing are limited for each IP address; the oldest are closed', async () => {
    const service = await serveWithDescriptors(512)
    // 512 file descriptors allow 256 connections, and 64 for each IP address. At startup, the service logs that the
    // limits are lowered.
    await until('the message is logged', () => /limit on open files/.test(service.err()))
    expect(service.err()).toMatch(/"descriptors":512,"connections":256,"sockets":213/)
    const silent: Awaited<ReturnType<typeof openSilent>>[] = []
    for (let count = 0; count < 200; count++) silent.push(await openSilent(service.port))
    await until(
      'the oldest connections are closed',
      () => silent.filter((client) => client.closedAt() > 0).length === 136,
    )
    expect(silent.slice(0, 136).every((client) => client.closedAt() > 0)).toBe(true)
    expect((await service.get('/healthz')).status).toBe(200)
  })

  // Reliability: 1.20, 3.12.4, 3.12.13.
  it('of an address beyond its share replace its idle ones; if all are in use, they get 503', async () => {
    const service = await serveWithDescriptors(512)
    const kept: Awaited<ReturnType<typeof openKept>>[] = []
    for (let count = 0; count < 80; count++) kept.push(await openKept(service.port, '127.0.0.2'))
    await until('the oldest are closed', () => kept.filter(({ isClosed }) => isClosed()).length === 16)
    expect(kept.slice(0, 16).every(({ isClosed }) => isClosed())).toBe(true)
    for (const { socket } of kept) socket.destroy()

    // The body never arrives, so these requests stay in progress.
    const upload = 'POST /api/auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n'
    const occupy = () => openFrom(service.port, '127.0.0.3').socket.write(upload)
    for (let count = 0; count < 64; count++) occupy()
    const refused = await until('a further connection is refused', async () => {
      // Replaces an earlier attempt that was accepted before all others were.
      occupy()
      const { answer } = await openKept(service.port, '127.0.0.3')
      return answer.includes('503') ? answer : undefined
    })
    expect(refused).toMatch(/retry-after: 5\r\n/i)
    expect(refused).toMatch(/connection: close\r\n/i)
    expect((await service.get('/healthz')).status).toBe(200)
  })

  // Reliability: 3.12.13.
  it('of a trusted proxy have no share, because all clients have its address', async () => {
    const service = await serveWithDescriptors(512, { server: { trusted_proxies: ['127.0.0.2/32'] } })
    const kept: Awaited<ReturnType<typeof openKept>>[] = []
    for (let count = 0; count < 80; count++) kept.push(await openKept(service.port, '127.0.0.2'))
    expect((await service.get('/healthz')).status).toBe(200)
    expect(kept.filter(({ isClosed }) => isClosed())).toEqual([])
  })
})

describe('WebSocket clients', () => {
  // Reliability: 1.20, C2, 3.12.5, 3.12.13.
  it('have a quarter of the limit each; screens that share a token are counted by their addresses', async () => {
    const service = await serveWithDescriptors(512)
    const sockets: Socket[] = []
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy()
    })
    const open = async (localAddress: string, head = '') => {
      const { socket, status } = await openRaw(service.port, { localAddress, head })
      sockets.push(socket)
      return status
    }
    for (let count = 0; count < 53; count++) expect([count, await open('127.0.0.2')]).toEqual([count, 101])
    expect(await open('127.0.0.2')).toBe(503)
    // Screens that share a token are counted by their addresses.
    const created = await service.post('/api/auth/setup', { username: 'ana', password: 'correct horse battery' })
    const headers = { cookie: cookieOf(created), 'x-csrf-token': created.json.csrf_token }
    const { json } = await service.post('/api/admin/tokens/', { name: 'wall', role: 'viewer' }, headers)
    const token = `Authorization: Bearer ${json.token}\r\n`
    for (let count = 0; count < 20; count++) expect(await open(`127.0.0.${10 + count}`, token)).toBe(101)
    for (let count = 20; count < 20 + 53 - 1; count++) expect(await open('127.0.0.10', token)).toBe(101)
    expect(await open('127.0.0.10', token)).toBe(503)
    expect(await open('127.0.0.11', token)).toBe(101)
    sockets[0]?.destroy()
    await until('a connection is accepted again', async () => (await open('127.0.0.2')) === 101)
  })

  // Reliability: C4.
  it('can reconnect by the thousand at once', async () => {
    const shure = withoutPush(await startShure())
    const installation = await createInstallation({ manufacturers: [configFor(shure)] })
    const service = await installation.serve()
    const health = watchHealth(service.port)
    onTestEnd(() => health.close())
    for (let round = 0; round < 2; round++) {
      const sockets = Array.from({ length: 1000 }, () => new WebSocket(`ws://127.0.0.1:${service.port}/ws`))
      const connected = sockets.map((socket) => once(socket, 'message').then(([data]) => JSON.parse(String(data)).type))
      const failure: string[] = []
      for (const socket of sockets) socket.on('error', (error) => failure.push(String(error)))
      expect(new Set(await Promise.all(connected))).toEqual(new Set(['status']))
      expect(failure).toEqual([])
      for (const socket of sockets) socket.terminate()
    }
    expect(Math.max(...(await health.end()))).toBeLessThan(limitMs)
  })
})

describe('a flood of requests', () => {
  // Reliability: 1.18, C8.
  it('to sign in delays neither reads nor polling', async () => {
    const shure = withoutPush(await startShure())
    const installation = await createInstallation({
      manufacturers: [configFor(shure)],
      require_login: true,
      public_read: true,
    })
    const service = await installation.serve()
    await until('the service polls', async () => (await service.receivers()).length === 2)
    const before = shure.requests.total
    const startedAt = performance.now()
    const health = watchHealth(service.port)
    onTestEnd(() => health.close())
    const statuses = new Set<number>()
    let isStopped = false
    const attackers = Array.from({ length: 40 }, async (_, index) => {
      for (let round = 0; !isStopped; round++) {
        const { status } = await service.post('/api/auth/login', {
          username: `user${index}-${round % 4}`,
          password: 'wrong password',
        })
        statuses.add(status)
      }
    })
    await until('five seconds have passed', () => performance.now() - startedAt > 5000)
    isStopped = true
    await Promise.all(attackers)
    const cycles = shure.requests.total - before
    const seconds = (performance.now() - startedAt) / 1000
    expect([...statuses].every((status) => [401, 429, 503].includes(status))).toBe(true)
    // A poll is due every second, and may be up to half a second late.
    expect(cycles).toBeGreaterThanOrEqual(Math.floor(seconds / 1.5))
    expect(Math.max(...(await health.end()))).toBeLessThan(limitMs)
  })

  // Reliability: 1.19, C7.
  it('without credentials does not use up the limit of a client with a token', async () => {
    const installation = await createInstallation({ rate_limit: { max_requests: 50, window_seconds: 60 } })
    const service = await installation.serve(['--no-poll'])
    const created = await service.post('/api/auth/setup', { username: 'ana', password: 'correct horse battery' })
    const cookie = (created.headers['set-cookie'] ?? []).map((header) => header.split(';')[0]).join('; ')
    for (let count = 0; count < 60; count++) await service.get('/api/health/')
    await until('the limit applies', async () => (await service.get('/api/health/')).status === 429)
    expect((await service.get('/api/health/', { cookie })).status).toBe(200)
  })
})
