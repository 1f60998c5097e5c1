/** Extreme load on the program in a separate process: its memory and its response times. */

import { readFile } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { configFor, createInstallation, startShure, until } from '../support/app.ts'
import { device, type Responder, respondJson, startSystem } from '../support/faults/system.ts'
import { channelIn } from '../support/socket-client.ts'
import { timeLimit } from '../support/time-limit.ts'

const mebibyte = 1024 * 1024

async function readRss(pid: number | undefined): Promise<number> {
  const [, kibibytes] = /VmRSS:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kibibytes) * 1024
}

/** Returns the highest memory use of the process while `work` runs. */
async function highestRss(pid: number | undefined, work: () => Promise<unknown>): Promise<number> {
  let highest = 0
  let isStopped = false
  const sampling = (async () => {
    for (; !isStopped; await new Promise((resolve) => setTimeout(resolve, 20)))
      highest = Math.max(highest, await readRss(pid))
  })()
  await work()
  isStopped = true
  await sampling
  return highest
}

// Needs Linux, which reports the memory of a process in a file.
describe.runIf(process.platform === 'linux')('a service under load', () => {
  // Reliability: 1.9, U19.
  it('limits its memory with endless bodies and decompression bombs', async () => {
    const bomb = gzipSync(Buffer.alloc(200 * mebibyte, ' '))
    const endless: Responder = (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const chunk = Buffer.alloc(mebibyte, ' ')
      const body = new Readable({ read: () => void body.push(chunk) })
      body.pipe(response).on('close', () => body.destroy())
    }
    const system = await startSystem(respondJson({ devices: [device(1)] }))
    const installation = await createInstallation({ manufacturers: [system.entry('large', { poll_interval: 3600 })] })
    const service = await installation.serve()
    await until('the device is known', async () => (await service.receivers()).length === 1)
    const refresh = () => service.post('/api/refresh/')
    expect((await refresh()).status).toBe(200)
    const before = await readRss(service.pid)
    const highest = await highestRss(service.pid, async () => {
      for (let round = 0; round < 4; round += 1) {
        system.respondWith(endless)
        expect((await refresh()).json.details).toMatch(/larger than Micwatch accepts/)
        system.respondWith((_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb))
        expect((await refresh()).json.details).toMatch(/larger than Micwatch accepts/)
      }
    })
    // Far less than one body.
    expect((highest - before) / mebibyte).toBeLessThan(128)
    expect(await service.receivers()).toHaveLength(1)
  })

  // Reliability: R3.
  it('limits memory and response times with ten thousand messages a second', async () => {
    const shure = await startShure({ receivers: 2, pushesPerSecond: 0 })
    const installation = await createInstallation({ manufacturers: [configFor(shure, { poll_interval: 3600 })] })
    const service = await installation.serve()
    await until('both receivers are known', async () => (await service.receivers()).length === 2)
    await until('the subscription is connected', () => shure.push.connections === 1)
    const ids = shure.show.devicesAt(0).map(({ device }) => device.id)
    const page = await service.socket()
    const level = (index: number, rf_level: number) =>
      JSON.stringify({ type: 'device_update', device_id: ids[index % 2], transmitter: { channel: 1, rf_level } })
    for (let index = 0; index < 1000; index += 1) shure.push.send(level(index, -40 - (index % 50)))
    const before = await readRss(service.pid)
    const durations: number[] = []
    const startedAt = performance.now()
    const seconds = () => (performance.now() - startedAt) / 1000
    let sent = 0
    let isStopped = false
    const highest = await highestRss(service.pid, async () => {
      const requesting = (async () => {
        for (; !isStopped; await new Promise((resolve) => setTimeout(resolve, 50))) {
          const requestedAt = performance.now()
          expect((await service.get('/api/receivers/')).status).toBe(200)
          durations.push(performance.now() - requestedAt)
        }
      })()
      for (; seconds() < 4; await new Promise((resolve) => setTimeout(resolve, 5))) {
        for (const dueCount = Math.min(seconds() * 10_000, sent + 500); sent < dueCount; sent += 1) {
          shure.push.send(level(sent, -40 - (sent % 50)))
        }
      }
      for (const index of ids.keys()) shure.push.send(level(index, -97))
      await page.next((message) => channelIn(message)?.transmitter?.rf_level === -97)
      isStopped = true
      await requesting
    })
    const updates = page.ofType('device_update')
    expect(sent).toBeGreaterThan(10_000)
    expect(updates.length).toBeGreaterThan(10)
    expect(updates.length).toBeLessThanOrEqual(2 * 10 * (seconds() + 1))
    expect((highest - before) / mebibyte).toBeLessThan(64)
    expect(durations.sort((a, b) => a - b)[Math.floor(durations.length * 0.99)]).toBeLessThan(timeLimit(500))
  })
})
