/** Installations that are followed, and those that follow them. */

import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { WebSocket, WebSocketServer } from 'ws'
import { configFor, startApp, startShure, type TestApp, type TestAppOptions, until } from './app.ts'
import { onTestEnd } from './cleanup.ts'

/** Returns a manufacturer's record that follows an installation. */
export function follow(url: string, code = 'theatre', name = 'Royal Theatre') {
  return { code, name, plugin: 'micwatch', config: { api_base_url: url } }
}

export async function startOrigin(options: Pick<TestAppOptions, 'isRecording'> = {}) {
  const shure = await startShure({ receivers: 2, channelsPerReceiver: 2 })
  const origin = await startApp({ ...options, manufacturers: [configFor(shure)] })
  await until('all receivers are known', async () => (await origin.receivers()).length === 2)
  return { shure, origin }
}

/** Starts an installation that follows one or two others. */
export async function startFollower(...urls: readonly string[]): Promise<TestApp> {
  const codes = ['theatre', 'arena']
  const follower = await startApp({ manufacturers: urls.map((url, index) => follow(url, codes[index])) })
  await until('the sites are followed', async () => (await follower.receivers()).length === 2 * urls.length)
  return follower
}

export async function statesOf(app: TestApp) {
  return (await app.receivers()).flatMap(({ channels }) => channels.map(({ condition }) => condition.state))
}

/**
 * Opens a relay to an installation that rejects the selection of levels, as versions before it do. Returns its address,
 * and how many messages of a type followers have sent.
 */
export async function openOlderVersion({ url }: Pick<TestApp, 'url'>) {
  const received: string[] = []
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  server.on('connection', (client, request) => {
    const target = new WebSocket(`${url.replace(/^http/, 'ws')}${request.url}`)
    const isOpen = once(target, 'open')
    target.on('message', (data) => client.send(String(data)))
    target.on('close', () => client.close())
    client.on('close', () => target.close())
    client.on('message', async (data) => {
      const { type } = JSON.parse(String(data))
      received.push(type)
      await isOpen
      if (type === 'select_levels') client.send(JSON.stringify({ type: 'error', error: 'Unknown message type.' }))
      else target.send(String(data))
    })
  })
  await once(server, 'listening')
  onTestEnd(() => {
    for (const client of server.clients) client.terminate()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, countOf: (type: string) => received.filter((sent) => sent === type).length }
}
