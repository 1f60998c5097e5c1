/** A process from outside: start, stop, signals, ports, output streams, uncaught exceptions, no network. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { freePort } from '../../scripts/free-port.ts'
import { client, configFor, createInstallation, startApp, startShure, until } from '../support/app.ts'
import { findBrowser } from '../support/browser/chromium.ts'
import { type Connection, openConnection } from '../support/faults/keep-alive.ts'
import { device, respondJson, startSystem } from '../support/faults/system.ts'
import { receiversInMemory } from '../support/internals.ts'
import { timeLimit } from '../support/time-limit.ts'

const program = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const elapsedSince = (startedAt: number) => performance.now() - startedAt
const devices = (more: object = {}) => respondJson({ devices: [device(1, more)] })
/** A manufacturer whose system cannot be reached, because nothing listens on this port. */
const unreachableSystem = {
  code: 'shure',
  config: { api_base_url: 'http://127.0.0.1:9', shared_key: 'x', poll_interval: 1 },
}

describe('a service that receives SIGTERM', () => {
  // Reliability: P1.
  it('finishes running requests, notifies WebSocket clients, closes all connections and exits with 0', async () => {
    const shure = await startShure()
    const installation = await createInstallation({ manufacturers: [configFor(shure)] })
    const service = await installation.serve()
    const socket = await service.socket()
    await until('the subscription is connected', () => shure.push.connections > 0)
    const idle = await openConnection(service.port)
    expect((await idle.request('GET /api/groups/ HTTP/1.1')).status).toBe(200)
    const halfRequest = await startHalfRequest(service.port)

    service.kill('SIGTERM')
    const stoppedAt = performance.now()
    await until('the service has stopped listening', () =>
      openConnection(service.port).then(closeConnection, () => true),
    )
    const rejected = await idle.request('GET /api/groups/ HTTP/1.1')
    expect(rejected).toMatchObject({ status: 503, headers: { connection: 'close', 'retry-after': '5' } })
    expect(JSON.parse(rejected.body)).toEqual({ error: 'The service is stopping.', status: 503 })
    expect(await halfRequest.finish()).toMatchObject({ status: 201, headers: { connection: 'close' } })
    expect([await service.ended, await socket.closed]).toEqual([0, 1001])
    expect(elapsedSince(stoppedAt)).toBeLessThan(timeLimit(5000))
    await until('the subscriptions are closed', () => shure.push.connections === 0)

    const second = await installation.serve()
    expect((await second.get('/api/groups/')).json).toMatchObject([{ title: 'half a request' }])
  })

  // Reliability: P2.
  it('exits within 10 s although a request does not finish', async () => {
    const installation = await createInstallation()
    const service = await installation.serve()
    await startHalfRequest(service.port)
    service.kill('SIGINT')
    const stoppedAt = performance.now()
    expect(await service.ended).toBe(0)
    expect(elapsedSince(stoppedAt)).toBeLessThan(timeLimit(10_000))
  })
})

// Reliability: P11.
describe('SIGHUP', () => {
  const script = '/usr/bin/script'

  it.runIf(existsSync(script))(
    'stops a service in order when its terminal is closed',
    async () => {
      const installation = await createInstallation({ manufacturers: [unreachableSystem] })
      const command = `'${process.execPath}' '${program}' serve --json --port 0`
      const terminal = spawn(script, ['--quiet', '--flush', '--command', command, '/dev/null'], {
        cwd: installation.path,
      })
      onTestFinished(() => void terminal.kill('SIGKILL'))
      let output = ''
      terminal.stdout.setEncoding('utf8').on('data', (text) => {
        output += text
      })
      const pid = await until('serve listens', () => Number(/"pid": (\d+)/.exec(output)?.[1]) || null, 30_000)
      const listNodes = async () => (await installation.run(['nodes', '--json'])).json()
      await until('the service polls', async () => (await listNodes()).nodes.length > 0)
      terminal.kill('SIGKILL')
      await until('the process has exited', () => !isRunning(pid))
      // The empty list shows an orderly stop: a process that was killed would still be listed for another 15 s.
      expect(await listNodes()).toEqual({ nodes: [], processes: [] })
    },
    60_000,
  )

  it('does not stop a service without a terminal', async () => {
    const installation = await createInstallation()
    const service = await installation.serve()
    service.kill('SIGHUP')
    await until('the message is logged', () => service.err().includes('SIGHUP received'))
    expect((await service.get('/healthz')).status).toBe(200)
    service.kill('SIGTERM')
    expect(await service.ended).toBe(0)
  })
})

describe('a port in use', () => {
  // Reliability: P7.
  it('makes the start fail within 3 s with one line, and nothing is written', async () => {
    const installation = await createInstallation()
    const first = await installation.serve()
    const other = await createInstallation()
    const startedAt = performance.now()
    const { code, out, err } = await other.run(['serve', '--port', String(first.port)])
    expect([code, out]).toEqual([1, ''])
    expect(err).toBe(`micwatch: 127.0.0.1:${first.port} is in use by another program; choose another with --port\n`)
    expect(elapsedSince(startedAt)).toBeLessThan(timeLimit(3000))
    expect(existsSync(join(other.path, 'data'))).toBe(false)
  })
})

describe('an uncaught exception', () => {
  // `!` says that the exception is about to be thrown; the log leaves out some of those that repeat.
  const throwOnSignal = `process.on('SIGUSR2', () => setImmediate(function bug() {
    process.stderr.write('!\\n')
    throw new TypeError('on purpose')
  }))`
  const start = async () => {
    const installation = await createInstallation()
    await installation.write('bug.mjs', throwOnSignal)
    return installation.serve([], { NODE_OPTIONS: `--import=${join(installation.path, 'bug.mjs')}` })
  }

  // Reliability: 1.24, P8.
  it('is logged with its stack and the service continues; the eleventh within a minute stops the process', async () => {
    const service = await start()
    const socket = await service.socket()
    const thrown = () => service.err().match(/^!$/gm)?.length
    for (let times = 1; times <= 10; times += 1) {
      service.kill('SIGUSR2')
      await until(`exception ${times}`, () => thrown() === times)
    }
    expect(service.err().match(/"msg":"uncaught exception"/g)).toHaveLength(3)
    expect(service.err()).toMatch(/on purpose\\n +at .*bug\.mjs/)
    expect((await service.get('/healthz')).status).toBe(200)
    expect(socket.ofType('status')).toHaveLength(1)

    service.kill('SIGUSR2')
    expect([await service.ended, await socket.closed]).toEqual([1, 1001])
    expect(service.err()).toContain('shutting down')
  })

  // Reliability: P8.
  it('in a request results in 500 without internal details, and affects no other request', async () => {
    const app = await startApp()
    vi.spyOn(receiversInMemory(app), 'listAll').mockImplementationOnce(() => {
      throw new TypeError('the secret inside')
    })
    const { status, json, bytes } = await app.get('/api/receivers/')
    expect([status, json]).toEqual([500, { error: 'Internal server error.', status: 500 }])
    expect(String(bytes)).not.toContain('secret')
    expect((await app.get('/api/receivers/')).status).toBe(200)
  })
})

describe('standard output and standard error', () => {
  const countDroppedLines = async (service: ReturnType<typeof client>) => {
    const metrics = String((await service.get('/metrics')).bytes)
    return Number(/^micwatch_log_lines_dropped\S* (\d+)/m.exec(metrics)?.[1])
  }
  /** Starts the program through a shell. `outputs` redirects its output, for example `>/dev/full`. */
  const startWithOutputs = async (outputs: string) => {
    const installation = await createInstallation({ manufacturers: [unreachableSystem] })
    const port = await freePort()
    const args = ['-c', `exec "$0" "$@" ${outputs}`, process.execPath, program, 'serve', '--port', String(port)]
    const child = spawn('/bin/sh', args, { cwd: installation.path, env: { PATH: process.env.PATH }, stdio: 'pipe' })
    const ended = once(child, 'close')
    onTestFinished(async () => {
      child.kill('SIGKILL')
      await ended
    })
    const service = client(`http://127.0.0.1:${port}`)
    await until('the service responds', async () => (await service.get('/healthz')).status === 200, 20_000)
    return { child, service }
  }

  // Reliability: P9.
  it('may be full: the service continues and counts lost lines', async () => {
    const { child, service } = await startWithOutputs('>/dev/full 2>/dev/full')
    const before = await until('lines are dropped', () => countDroppedLines(service))
    await until('more lines are dropped', async () => (await countDroppedLines(service)) > before)
    expect(child.exitCode).toBeNull()
  })

  // Reliability: P9.
  it('may be closed by their reader: the service continues and counts lost lines', async () => {
    const { child, service } = await startWithOutputs('')
    child.stdout.destroy()
    child.stderr.destroy()
    await until('lines are dropped', async () => (await countDroppedLines(service)) > 0)
    expect((await service.get('/api/receivers/')).status).toBe(200)
    expect(child.exitCode).toBeNull()
  })
})

describe('a service without a network', () => {
  // Reliability: 1.24, P10.
  it('starts, responds and reports systems whose names do not resolve', async () => {
    const unknown = { code: 'shure', config: { api_base_url: 'http://nowhere.invalid', shared_key: 'x' } }
    const reachable = await startSystem(devices())
    const installation = await createInstallation({ manufacturers: [unknown, reachable.entry('second')] })
    const service = await installation.serve()
    await until('the other system is polled', async () => (await service.receivers()).length === 1)
    const error = await until('the unknown name is reported', async () => {
      const { json } = await service.get('/api/health/?manufacturer=shure')
      return json.manufacturers.find((manufacturer: { code: string }) => manufacturer.code === 'shure').error as
        | string
        | null
    })
    expect(error).toMatch(/nowhere\.invalid/)
  })

  // Reliability: 1.26, P10.
  it('serves pages that load resources only from itself', async () => {
    const app = await startApp()
    const browser = await findBrowser()
    const page = await browser.newPage()
    onTestFinished(() => page.close())
    const urls: string[] = []
    page.on('request', (request) => urls.push(new URL(request.url()).origin))
    for (const path of ['/', '/sign-in', '/api/docs/']) await page.goto(app.url + path, { waitUntil: 'load' })
    expect(urls.length).toBeGreaterThan(3)
    expect(new Set(urls)).toEqual(new Set([new URL(app.url).origin]))
  })
})

const closeConnection = (connection: Connection): false => {
  connection.close()
  return false
}

/** Sends half of a request that creates a group; `finish` sends the rest. */
async function startHalfRequest(port: number) {
  const connection = await openConnection(port)
  const body = JSON.stringify({ title: 'half a request' })
  const head = [
    'POST /api/group/ HTTP/1.1',
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    // The service sends 100 as soon as it handles the request.
    'Expect: 100-continue',
  ]
  expect((await connection.request(head.join('\r\n'))).status).toBe(100)
  connection.write(body.slice(0, 10))
  return {
    finish() {
      const response = connection.receive()
      connection.write(body.slice(10))
      return response
    },
  }
}
