/** The manufacturers: who is listened to, and how. */

import type { UpstreamStatus } from '../../src/model/health.ts'
import type { ConfigKey } from '../../src/model/manufacturer-config.ts'

const devices = (count: number) => (count === 1 ? '1 device' : `${count} devices`)

const statuses: Record<UpstreamStatus, string> = {
  healthy: 'Healthy',
  degraded: 'Degraded',
  unhealthy: 'Unhealthy',
  disabled: 'Disabled',
  unconfigured: 'No address',
}

const labels: Record<ConfigKey, string> = {
  api_base_url: 'Address of the system',
  username: 'User name',
  shared_key: 'Shared key',
  password: 'Password',
  ssl_verify: 'Verify the certificate (TLS)',
  timeout: 'Timeout (s)',
  poll_interval: 'Polling interval (s)',
  calls_per_second: 'Calls per second',
  burst: 'Burst',
  websocket_url: 'WebSocket address',
  websocket_other_host: 'The WebSocket may be on another host',
  auth_header: 'Send the key as a header too',
  auth_header_name: 'Name of that header',
  devices: 'Single devices',
}

const hints: Partial<Record<ConfigKey, string>> = {
  api_base_url: 'Such as https://10.0.0.5:10000. Leave it empty where devices speak for themselves.',
  username: 'Empty: api.',
  timeout: '1 to 60. Empty: 10, or 30 where the address is a BASE_URL.',
  poll_interval: 'Whole seconds, 1 to 3600. Empty: as the settings say.',
  calls_per_second: 'At most so many. Empty: 10.',
  burst: 'So many at once. Empty: 20.',
  websocket_url: 'Empty: found from the address.',
  auth_header_name: 'Empty: X-Vendor-Auth-Key.',
  devices: 'Addresses, one a line. A password that one has of its own is kept.',
}

export const manufacturerTexts = {
  title: 'Manufacturers',
  intro:
    'The systems Micwatch asks. Changes take effect at once, without a restart. What the configuration file gives for a ' +
    'manufacturer is written here again at every start.',
  list: 'Manufacturers',
  statuses,
  labels,
  hints,
  columns: {
    name: 'Manufacturer',
    status: 'Status',
    addresses: 'Addresses',
    interval: 'Polled every',
    enabled: 'Enabled',
    deeds: 'Actions',
  },
  seconds: (seconds: string) => `${seconds} s`,
  asSettings: 'as the settings say',
  notVerified: 'Not verified',
  unreadable: 'Its secrets cannot be read any more: enter them again.',
  none: 'No manufacturer yet',
  noneNext: 'Add the system your receivers are managed by. Micwatch finds the receivers by itself.',
  add: 'Add a manufacturer',
  added: (name: string) => `Added ${name}.`,
  edit: 'Edit',
  editOf: (name: string) => `Edit ${name}`,
  save: 'Save',
  saved: (name: string) => `Saved ${name}.`,
  line: (line: number, says: string) => `Line ${line}: ${says}`,
  plugin: 'Kind of system',
  code: 'Code',
  codeHint: 'What it is called in addresses and commands: lower-case letters, digits, _ and -.',
  name: 'Name',
  nameHint: 'For people. Empty: the name of the kind.',
  keptKeys: (keys: readonly string[]) => `Further settings stay as they are: ${keys.join(', ')}.`,
  verifyOff: 'Not verified: anybody on the way can pretend to be the system, and read the credentials.',
  enable: {
    text: (name: string) => `Enable ${name}`,
    enabled: (name: string) => `${name} is asked again.`,
    disabled: (name: string) => `${name} is not asked any more.`,
    question: (name: string) => `Stop asking ${name}?`,
    action: 'Disable',
    follows: 'Its receivers stay, with what was last heard of them; nothing new is heard until it is enabled again.',
  },
  removal: {
    text: 'Delete',
    of: (name: string) => `Delete ${name}`,
    question: (name: string) => `Delete ${name}?`,
    follows: 'Its settings and its entries in the queue go with it. A manufacturer that still has receivers is kept.',
    done: (name: string) => `Deleted ${name}.`,
  },
  test: {
    text: 'Test',
    typed: 'Test the connection',
    of: (name: string) => `Test ${name}`,
    testing: 'Asking …',
    result: (name: string) => `Test of ${name}`,
    unconfigured: 'There is nothing to ask: it has no address.',
    answered: (address: string, count: number | null) =>
      count === null ? `${address} answered.` : `${address} answered: ${devices(count)}.`,
    failed: (address: string, why: string | null) => (why === null ? `${address} did not answer as expected.` : why),
    notStored: 'Nothing was stored.',
  },
  scan: {
    text: 'Scan a network',
    subnet: 'Network',
    subnetHint:
      'Private IPv4 network of at most 1024 addresses, such as 192.168.1.0/24. Others have to stand in ' +
      'discovery_ranges of the configuration file.',
    manufacturer: 'Asked',
    all: 'All that are enabled',
    action: 'Scan',
    found: (count: number) => (count === 0 ? 'No device was found there.' : `${devices(count)} found.`),
    list: 'Devices found',
    listenHint:
      'To listen to a device that speaks for itself, put its address (tcp://…) into the devices of its manufacturer.',
    systemHint: 'To hear what a system tells, put its address (https://…) into api_base_url of its manufacturer.',
    columns: { ip: 'Address', type: 'Type', channels: 'Channels' },
    failed: (manufacturer: string, why: string) => `${manufacturer}: ${why}`,
    queue: 'To the discovery queue',
  },
} as const
