/** The examples of docs/examples.md, and the service against which they are run. */

import { readFileSync } from 'node:fs'
import type { Role } from '../../src/contract/values.ts'
import { configFor, deviceOf, startApp, startShure, until, withoutPush } from './app.ts'
import { receiversInMemory } from './internals.ts'
import { tokenHeaders } from './tokens.ts'

const text = readFileSync(new URL('../../docs/examples.md', import.meta.url), 'utf8')

/** Returns the code in this language below a heading. */
export function readExample(heading: string, language: string): string {
  const section = text.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? ''
  const code = new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'ms').exec(section)?.[1]
  if (code === undefined) throw new Error(`docs/examples.md has no code in ${language} below "${heading}".`)
  return code
}

/** Starts a service that requires a token. Its first channel receives the transmitter Zoë, with a battery of 61%. */
export async function startWithToken(role: Role, config: object = {}) {
  const simulator = withoutPush(await startShure({ receivers: 1, channelsPerReceiver: 2, story: false }))
  const { id } = deviceOf(simulator)
  const set = (values: object, channel = 1) => simulator.show.set(id, values, channel)
  set({ name: 'Zoë', battery: 61, rf_level: -47, audio_level: -20 })
  const app = await startApp({ manufacturers: [configFor(simulator)], config: { ...config, require_login: true } })
  const stateOf = (channel: number) =>
    receiversInMemory(app)
      .list()[0]
      ?.channels.find((candidate) => candidate.channel === channel)?.condition.state
  await until('the first channel is received', () => stateOf(1) === 'ok')
  const headers = await tokenHeaders(app, role)
  const token = headers.authorization?.replace('Bearer ', '') ?? ''
  return { app, headers, env: { MICWATCH_URL: app.url, MICWATCH_TOKEN: token }, set, stateOf }
}
