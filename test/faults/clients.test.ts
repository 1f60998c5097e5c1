/** Clients that are slow, numerous, silent, disconnected or hostile do not affect other clients. */

import { once } from 'node:events'
import type { Socket } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import WebSocket from 'ws'
import { watchHealth } from '../../bench/health-watch.ts'
import { configFor, createInstallation, shellLauncher, startShure, until, withoutPush } from '../app.ts'
import { onTestEnd } from '../cleanup.ts'
import { timeLimit } from '../time-limit.ts'
import { openRaw } from './raw-socket.ts'
import { openSilent } from './silent-socket.ts'

/** The longest time that a liveness check may take, whatever other clients do. */
const limitMs = timeLimit(500)

describe('idle connections', () => {
  // Reliability: 1.20, 3.12.4.
  it('are limited for each IP address; the oldest are closed, and active clients are served', async () => {
    const installation = await createInstallation()
    const service = await installation.serve(['--no-poll'], {}, shellLauncher('ulimit -n 512'))
    // 512 file descriptors allow 256 connections, but only 128 idle ones for each IP address. At startup, the service
    // logs that the limits are lowered.
    await until('the message is logged', () => /limit on open files/.test(service.err()))
    expect(service.err()).toMatch(/"descriptors":512,"connections":256,"sockets":213/)
    const silent: Awaited<ReturnType<typeof openSilent>>[] = []
    for (let count = 0; count < 200; count++) silent.push(await openSilent(service.port))
    await until(
      'the oldest connections are closed',
      () => silent.filter((client) => client.closedAt() > 0).length === 72,
    )
    expect(silent.slice(0, 72).every((client) => client.closedAt() > 0)).toBe(true)
    expect((await service.get('/healthz')).status).toBe(200)
  })
})

describe('WebSocket clients', () => {
  // Reliability: 1.20, C2, 3.12.5.
  it('beyond the limit of file descriptors are asked to retry later', async () => {
    const installation = await createInstallation()
    const service = await installation.serve(['--no-poll'], {}, shellLauncher('ulimit -n 512'))
    const sockets: Socket[] = []
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy()
    })
    for (let count = 0; count < 213; count++) {
      const { socket, status } = await openRaw(service.port)
      sockets.push(socket)
      expect([count, status]).toEqual([count, 101])
    }
    const rejected = await openRaw(service.port)
    sockets.push(rejected.socket)
    expect(rejected.status).toBe(503)
    expect((await service.get('/healthz')).status).toBe(200)
    sockets[0]?.destroy()
    await until('a connection is accepted again', async () => {
      const { socket, status } = await openRaw(service.port)
      sockets.push(socket)
      return status === 101
    })
  })

  // Reliability: C4.
  it('can reconnect by the thousand at once', { timeout: 90_000 }, async () => {
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
  it('to sign in delays neither reads nor polling', { timeout: 60_000 }, async () => {
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
