import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { eventually } from '../../test/support/eventually.ts'
import { type Ssc1SimulatorOptions, startSsc1Simulator } from './ssc1.ts'

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const resource of open.splice(0).toReversed()) await resource.close()
})

async function start(options: Ssc1SimulatorOptions = {}) {
  const simulator = await startSsc1Simulator(options)
  open.push(simulator)
  const connect = async () => {
    const socket = createSocket('udp4')
    open.push({ close: () => socket.close() })
    const received: unknown[] = []
    socket.on('message', (bytes) => received.push(JSON.parse(bytes.toString())))
    socket.bind(0, '127.0.0.1')
    await once(socket, 'listening')
    const request = async (message: unknown) => {
      const reply = once(socket, 'message')
      const text = typeof message === 'string' ? message : JSON.stringify(message)
      socket.send(text, simulator.udp.port, simulator.udp.host)
      return JSON.parse(String((await reply)[0])) as unknown
    }
    return { received, request }
  }
  return { simulator, connect, ...(await connect()) }
}

const subscribe = (tree: object, terms: object) => ({ osc: { state: { subscribe: [{ '#': terms, ...tree }] } } })

describe('replies', () => {
  test('contain the requested addresses, the xid and values rounded to their steps', async () => {
    const { request } = await start()
    expect(await request({ osc: { xid: 7 }, rx1: { name: null, frequency: 538_211 } })).toEqual({
      osc: { xid: 7 },
      rx1: { name: 'MIC 1', frequency: 538_200 },
    })
  })

  test('contain both values and errors', async () => {
    const { simulator, request } = await start()
    simulator.setLinked(1, false)
    const message = { abc: null, device: { name: null }, mates: { tx1: { battery: { type: null } } } }
    expect(await request(message)).toEqual({
      osc: {
        error: [
          {
            abc: [404, { desc: 'address not found' }],
            mates: { tx1: { battery: { type: [424, { desc: 'failed dependency' }] } } },
          },
        ],
      },
      device: { name: 'EWDXEM2' },
    })
  })

  test.each([['oops'], ['[]'], [{ device: null }], [{ rx3: { name: null } }]])('reject %j', async (message) => {
    const { request } = await start()
    expect(await request(message)).toMatchObject({ osc: { error: [expect.anything()] } })
  })
})

describe('a subscription', () => {
  test('reports changes, and ends with its lifetime', async () => {
    const { simulator, request, received } = await start()
    await request(subscribe({ rx1: { name: null } }, { lifetime: 0.3 }))
    simulator.set({ '/rx1/name': 'LEAD', '/rx2/name': 'ELSE' })
    await eventually(() => received.at(-1)).toEqual({ rx1: { name: 'LEAD' } })
    await eventually(() => received.at(-1)).toEqual({
      osc: { error: [{ rx1: { name: [310, { desc: 'subscription terminated' }] } }] },
    })
    expect(simulator.subscriptions).toBe(0)
  })

  test('with equal bounds sends the requested number of notifications at a fixed rate', async () => {
    const { received, request } = await start({ model: 'EM6000' })
    await request(subscribe({ mm: null }, { min: 20, max: 20, count: 3 }))
    await eventually(() => received.length).toBe(5)
    await pause(60)
    expect(received).toHaveLength(5)
  })

  test('can be cancelled, and is rejected above the maximum number of clients', async () => {
    const { simulator, connect, request } = await start({ maxClients: 1 })
    await request(subscribe({ rx1: { name: null } }, {}))
    const other = await connect()
    expect(await other.request(subscribe({ rx1: { name: null } }, {}))).toMatchObject({
      osc: { error: [{ osc: { state: { subscribe: [406, {}] } } }] },
    })
    void request(subscribe({ rx1: { name: null } }, { cancel: true }))
    await eventually(() => simulator.subscriptions).toBe(0)
  })
})
