/** Installations that are followed, and those that follow them. */

import { configFor, startApp, startShure, type TestApp, type TestAppOptions, until } from './app.ts'

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
