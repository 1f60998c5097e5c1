import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { afterEach, describe, expect, test } from 'vitest'
import { eventually } from '../../test/support/eventually.ts'
import { type McpSimulatorOptions, startMcpSimulator } from './mcp.ts'

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const resource of open.splice(0).toReversed()) await resource.close()
})

async function connect(options: McpSimulatorOptions = {}) {
  const simulator = await startMcpSimulator({ repliesToSource: true, ...options })
  open.push(simulator)
  const socket: Socket = createSocket('udp4')
  open.push({ close: () => socket.close() })
  const received: string[] = []
  socket.on('message', (bytes) => received.push(bytes.toString()))
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const send = (text: string) => socket.send(text, simulator.udp.port, simulator.udp.host)
  const request = async (text: string) => {
    const reply = once(socket, 'message')
    send(text)
    return String((await reply)[0])
  }
  return { simulator, received, send, request, port: socket.address().port }
}

test.each([
  ['Frequency\r', 'Frequency 606200 1 3\r'],
  ['Frequency 606225\r', 'Frequency 606225 0 0\r'],
  ['Squelch #1\r', 'Squelch 7\r'],
  ['Name\rFirmwareRevision\r', 'Name EM300\rFirmwareRevision 1.7.0\r'],
  ['Nonsense\r', '1000: Invalid command [ Nonsense ] \r'],
  ['Sensitivity\r', '1000: Invalid command [ Sensitivity ] \r'],
  ['Squelch x\r', '1010: Invalid parameter [ Squelch x ] \r'],
  ['Squelch 6\r', '1020: Value out of range [ Squelch 6 ] \r'],
  ['Push 60 250 3\r', '1020: Value out of range [ Push 60 250 3 ] \r'],
  ['Mute #1\r', '1030: Relative parameters not supported [ Mute #1 ] \r'],
  ['Push 60\r', '1040: Invalid numbers of parameter [ Push 60 ] \r'],
  ['Name', '1050: Incorrect termination (no CR) [ Name ] \r'],
  ['What\rName\r', '1000: Invalid command [ What ] \r'],
])('replies to %j with %j', async (command, reply) => {
  const { request } = await connect()
  expect(await request(command)).toBe(reply)
})

test('ignores more than 1500 characters without a reply', async () => {
  const { send, request, received } = await connect()
  send(`Name ${'x'.repeat(1500)}\r`)
  expect(await request('Mute\r')).toBe('Mute 0\r')
  expect(received).toHaveLength(1)
})

test('replies to its own port number, whatever the source port', async () => {
  const { port, received } = await connect()
  const { send } = await connect({ repliesToSource: false, host: '127.0.0.2', port })
  send('Mute\r')
  await eventually(() => received).toEqual(['Mute 0\r'])
})

describe('a subscription', () => {
  test('starts with the whole configuration, continues with levels, and ends without a message', async () => {
    const { simulator, send, received } = await connect()
    send('Push 1 100 3\r')
    await eventually(() => received.length).toBeGreaterThan(3)
    expect(received[0]).toBe('Name EM300\rFrequency 606200 1 3\rSquelch 5\rAfOut 0\rEqualizer 0\rMute 0\r')
    expect(received[1]).toBe('Push 1 100 3\r')
    expect(received[2]).toMatch(
      /^RF1 62 62 1\rRF2 55 55 0\rStates 0 1\rRF 62 1 1\rAF 60 75 0\rBat 70\rMsg OK\rConfig 0\r$/,
    )
    await eventually(() => simulator.subscriptions).toBe(0)
    const { length } = received
    simulator.set({ name: 'NEW' })
    await new Promise((resolve) => setTimeout(resolve, 250))
    expect(received).toHaveLength(length)
  })

  test('reports changes and counts them', async () => {
    const { simulator, request, received } = await connect()
    await request('Push 60 0 3\r')
    simulator.set({ name: 'LEAD', isMuted: true })
    await eventually(() => received).toContain('Name LEAD\rMute 1\r')
    simulator.set({ warnings: ['RX_Mute'] })
    await eventually(() => received.at(-1)).toMatch(/AF 60 75 9\r.*Msg RX_Mute\rConfig 1\r$/s)
  })

  test('ends early while muted, with firmware that does so', async () => {
    const { simulator, request } = await connect({ endsSubscriptionsWhileMuted: true })
    await request('Push 60 100 0\r')
    simulator.set({ isTxMuted: true })
    await eventually(() => simulator.subscriptions).toBe(0)
  })
})

test('an SR and an EM support different attributes', async () => {
  const { request } = await connect({ kind: 'SR', state: { name: 'IEM' } })
  expect(await request('Squelch\r')).toMatch(/^1000/)
  expect(await request('Push 0 100 0\r')).toBe('Af 60 60 75 75\rStates 0 0\rMsg OK\rConfig 0\r')
})
