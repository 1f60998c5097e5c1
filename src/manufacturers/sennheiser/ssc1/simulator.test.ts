import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { type Ssc1SimulatorOptions, startSsc1Simulator } from './simulator.ts'

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close()
})

async function start(options: Ssc1SimulatorOptions = {}) {
  const simulator = await startSsc1Simulator(options)
  open.push(simulator)
  const connect = async () => {
    const socket = createSocket('udp4')
    open.push({ close: () => socket.close() })
    const heard: unknown[] = []
    socket.on('message', (bytes) => heard.push(JSON.parse(bytes.toString())))
    socket.bind(0, '127.0.0.1')
    await once(socket, 'listening')
    const ask = async (message: unknown) => {
      const answer = once(socket, 'message')
      const text = typeof message === 'string' ? message : JSON.stringify(message)
      socket.send(text, simulator.datagrams.port, simulator.datagrams.host)
      return JSON.parse(String((await answer)[0])) as unknown
    }
    return { heard, ask }
  }
  return { simulator, connect, ...(await connect()) }
}

const subscribe = (tree: object, terms: object) => ({ osc: { state: { subscribe: [{ '#': terms, ...tree }] } } })

describe('answers', () => {
  test('have the shape of the question, the echo of its xid, and values bent to their steps', async () => {
    const { ask } = await start()
    expect(await ask({ osc: { xid: 7 }, rx1: { name: null, frequency: 538_211 } })).toEqual({
      osc: { xid: 7 },
      rx1: { name: 'MIC 1', frequency: 538_200 },
    })
  })

  test('tell good values and refusals side by side', async () => {
    const { simulator, ask } = await start()
    simulator.link(1, false)
    const question = { abc: null, device: { name: null }, mates: { tx1: { battery: { type: null } } } }
    expect(await ask(question)).toEqual({
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

  test.each([['oops'], ['[]'], [{ device: null }], [{ rx3: { name: null } }]])('refuse %j', async (question) => {
    const { ask } = await start()
    expect(await ask(question)).toMatchObject({ osc: { error: [expect.anything()] } })
  })
})

describe('a subscription', () => {
  test('tells what changes, and ends with its lifetime', async () => {
    const { simulator, ask, heard } = await start()
    await ask(subscribe({ rx1: { name: null } }, { lifetime: 0.3 }))
    simulator.set({ '/rx1/name': 'LEAD', '/rx2/name': 'ELSE' })
    await expect.poll(() => heard.at(-1)).toEqual({ rx1: { name: 'LEAD' } })
    await expect
      .poll(() => heard.at(-1))
      .toEqual({ osc: { error: [{ rx1: { name: [310, { desc: 'subscription terminated' }] } }] } })
    expect(simulator.subscriptions).toBe(0)
  })

  test('with equal bounds is told at a steady rate, as often as was asked for', async () => {
    const { heard, ask } = await start({ model: 'EM6000' })
    await ask(subscribe({ mm: null }, { min: 20, max: 20, count: 3 }))
    await expect.poll(() => heard.length).toBe(5)
    await pause(60)
    expect(heard).toHaveLength(5)
  })

  test('may be cancelled, and is had by eight clients at most', async () => {
    const { simulator, connect, ask } = await start({ mostClients: 1 })
    await ask(subscribe({ rx1: { name: null } }, {}))
    const other = await connect()
    expect(await other.ask(subscribe({ rx1: { name: null } }, {}))).toMatchObject({
      osc: { error: [{ osc: { state: { subscribe: [406, {}] } } }] },
    })
    void ask(subscribe({ rx1: { name: null } }, { cancel: true }))
    await expect.poll(() => simulator.subscriptions).toBe(0)
  })
})
