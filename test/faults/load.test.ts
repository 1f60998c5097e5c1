/** Extreme load on the program in a separate process: its memory and its response times. */

import { readFile } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { entryOf, startHome, startShure, until } from '../app.ts'
import { channelIn } from '../socket-client.ts'
import { device, type Responder, respondJson, startSystem } from './system.ts'

const mebibyte = 1024 * 1024

async function rssOf(pid: number | undefined): Promise<number> {
  const [, kibibytes] = /VmRSS:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kibibytes) * 1024
}

/** Returns the highest memory of the process while `work` runs. */
async function highestRss(pid: number | undefined, work: () => Promise<unknown>): Promise<number> {
  let highest = 0
  let isOver = false
  const looking = (async () => {
    for (; !isOver; await new Promise((resolve) => setTimeout(resolve, 20)))
      highest = Math.max(highest, await rssOf(pid))
  })()
  await work()
  isOver = true
  await looking
  return highest
}

/** Linux reports the memory of a process in a file. */
describe.runIf(process.platform === 'linux')('a service under load', () => {
  // Reliability: 1.9, U19.
  it('limits its memory with endless bodies and decompression bombs', async () => {
    const bomb = gzipSync(Buffer.alloc(200 * mebibyte, ' '))
    const endless: Responder = (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const piece = Buffer.alloc(mebibyte, ' ')
      const body = new Readable({ read: () => void body.push(piece) })
      body.pipe(response).on('close', () => body.destroy())
    }
    const system = await startSystem(respondJson({ devices: [device(1)] }))
    const home = await startHome({ manufacturers: [system.entry('large', { poll_interval: 3600 })] })
    const service = await home.serve()
    await until('it is known', async () => (await service.receivers()).length === 1)
    const refresh = () => service.post('/api/refresh/')
    expect((await refresh()).status).toBe(200)
    const before = await rssOf(service.pid)
    const highest = await highestRss(service.pid, async () => {
      for (let turn = 0; turn < 4; turn += 1) {
        system.respondWith(endless)
        expect((await refresh()).json.details).toMatch(/larger than Micwatch accepts/)
        system.respondWith((_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb))
        expect((await refresh()).json.details).toMatch(/larger than Micwatch accepts/)
      }
    })
    expect((highest - before) / mebibyte).toBeLessThan(64)
    expect(await service.receivers()).toHaveLength(1)
  }, 40_000)

  // Reliability: R3.
  it('limits memory and response times with ten thousand messages a second', async () => {
    const shure = await startShure({ receivers: 2, pushesPerSecond: 0 })
    const home = await startHome({ manufacturers: [entryOf(shure, { poll_interval: 3600 })] })
    const service = await home.serve()
    await until('both are known', async () => (await service.receivers()).length === 2)
    await until('the subscription is connected', () => shure.push.connections === 1)
    const ids = shure.show.devicesAt(0).map(({ device }) => device.id)
    const page = await service.socket()
    const level = (at: number, rf_level: number) =>
      JSON.stringify({ type: 'device_update', device_id: ids[at % 2], transmitter: { channel: 1, rf_level } })
    for (let at = 0; at < 1000; at += 1) shure.push.send(level(at, -40 - (at % 50)))
    const before = await rssOf(service.pid)
    const waits: number[] = []
    const startedAt = performance.now()
    const seconds = () => (performance.now() - startedAt) / 1000
    let sent = 0
    let isOver = false
    const highest = await highestRss(service.pid, async () => {
      const asking = (async () => {
        for (; !isOver; await new Promise((resolve) => setTimeout(resolve, 50))) {
          const askedAt = performance.now()
          expect((await service.get('/api/receivers/')).status).toBe(200)
          waits.push(performance.now() - askedAt)
        }
      })()
      for (; seconds() < 4; await new Promise((resolve) => setTimeout(resolve, 5))) {
        for (const due = Math.min(seconds() * 10_000, sent + 500); sent < due; sent += 1) {
          shure.push.send(level(sent, -40 - (sent % 50)))
        }
      }
      for (const at of ids.keys()) shure.push.send(level(at, -97))
      await page.next((message) => channelIn(message)?.transmitter?.rf_level === -97)
      isOver = true
      await asking
    })
    const updates = page.ofType('device_update')
    expect(sent).toBeGreaterThan(10_000)
    expect(updates.length).toBeGreaterThan(10)
    expect(updates.length).toBeLessThanOrEqual(2 * 10 * (seconds() + 1))
    expect((highest - before) / mebibyte).toBeLessThan(64)
    expect(waits.sort((a, b) => a - b)[Math.floor(waits.length * 0.99)]).toBeLessThan(500)
  }, 40_000)
})
