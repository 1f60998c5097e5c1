/** The configuration of a connection in Companion. */

import type { SomeCompanionConfigField } from '@companion-module/base'

export type Config = {
  url: string
  /** Id or title; empty: everything. */
  group: string
  levels: LevelRate
  acceptAnyCertificate: boolean
}

export type Secrets = { token?: string }

type LevelRate = 'off' | '1' | '5'

export interface Settings {
  /** Without a slash at the end. */
  readonly url: string
  readonly token: string | null
  readonly group: string | null
  /** Milliseconds between two updates of levels; null: never. */
  readonly levelsIntervalMs: number | null
  readonly acceptAnyCertificate: boolean
}

export const configFields: SomeCompanionConfigField[] = [
  {
    id: 'url',
    type: 'textinput',
    label: 'Address of Micwatch',
    width: 8,
    default: 'http://127.0.0.1:8080',
    tooltip: 'As in the browser, with http:// or https:// and the port.',
  },
  {
    id: 'acceptAnyCertificate',
    type: 'checkbox',
    label: 'Accept any certificate',
    width: 4,
    default: false,
    tooltip: 'For https:// with a self-signed certificate.',
  },
  {
    id: 'token',
    type: 'secret-text',
    label: 'Token',
    width: 8,
    tooltip: 'Created in Micwatch under Admin, Tokens. Actions need the role operator.',
  },
  {
    id: 'group',
    type: 'textinput',
    label: 'Group',
    width: 4,
    default: '',
    tooltip: 'Title or id of a group of slots. Empty: all slots.',
  },
  {
    id: 'levels',
    type: 'dropdown',
    label: 'RF and audio levels',
    width: 4,
    default: '1',
    choices: [
      { id: 'off', label: 'Off' },
      { id: '1', label: 'Once a second' },
      { id: '5', label: '5 times a second' },
    ],
  },
]

/** Reads the configuration, which may be incomplete. Returns a sentence for the user if the address is unusable. */
export function readSettings(config: Partial<Config>, secrets: Secrets | undefined): Settings | string {
  const url = readUrl(config.url ?? '')
  if (url === null) {
    return 'Enter the address of Micwatch, such as http://192.168.1.20:8080, in the configuration of this connection.'
  }
  return {
    url,
    token: secrets?.token?.trim() || null,
    group: config.group?.trim() || null,
    levelsIntervalMs: config.levels === 'off' ? null : config.levels === '5' ? 200 : 1000,
    acceptAnyCertificate: config.acceptAnyCertificate ?? false,
  }
}

function readUrl(text: string): string | null {
  const address = text.trim()
  if (address === '') return null
  const withScheme = /^[a-z]+:\/\//i.test(address) ? address : `http://${address}`
  if (!URL.canParse(withScheme)) return null
  const { protocol, origin, pathname } = new URL(withScheme)
  if (protocol !== 'http:' && protocol !== 'https:') return null
  return (origin + pathname).replace(/\/+$/, '')
}
