/** The demo, tested with an independent client. */

import { expect, it } from 'vitest'
import { startDemo } from '../simulators/demo.ts'
import { onTestEnd } from './support/cleanup.ts'
import { call } from './support/simulator-client.ts'

const basic = { authorization: `Basic ${Buffer.from('api:stage-right-password').toString('base64')}` }

async function startTestDemo(options: Parameters<typeof startDemo>[0]) {
  const demo = await startDemo(options)
  onTestEnd(() => demo.close())
  return demo
}

it('the demo has two systems with one simulated show, and a rack of individual devices', async () => {
  const demo = await startTestDemo({ seed: 5 })
  expect(demo.manufacturers.map((manufacturer) => [manufacturer.code, manufacturer.name])).toEqual([
    ['shure', 'Shure'],
    ['sennheiser', 'Sennheiser'],
    ['lectrosonics', 'Lectrosonics'],
    ['clearcom', 'Clear-Com'],
  ])
  const url = String(demo.manufacturers[1]?.config.api_base_url)
  const { json } = await call({ baseUrl: url }, 'GET', '/api/v1/devices', { headers: basic })
  expect(json.devices).toHaveLength(11)
  const devices = demo.manufacturers[0]?.config.devices as { url: string }[]
  expect(devices.map(({ url }) => new URL(url).protocol)).toEqual([...Array(6).fill('tcp:'), 'udp:'])
  const others = demo.manufacturers[1]?.config.devices as { url: string }[]
  expect([...new Set(others.map(({ url }) => new URL(url).protocol))].sort()).toEqual(['http:', 'mcp:', 'ssc1:'])
  const small = await startTestDemo({ receivers: 2 })
  expect(small.manufacturers.map(({ config }) => config.devices)).toEqual([undefined, undefined])
})
