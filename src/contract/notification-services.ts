/**
 * The services by which alerts are sent: their English texts and the fields of their `config`. The values of `type`, the
 * checks, the secrets and the form follow from these rows; `src/alerts/services` sends.
 */

import {
  choice,
  type FieldParser,
  headerToken,
  hostName,
  line,
  list,
  port,
  webUrl,
} from '../domain/notifications/config-fields.ts'

interface ServiceField {
  /** `list`: texts, one per line. `security`: the encryption of email. A `secret` is masked. */
  readonly kind: 'text' | 'address' | 'secret' | 'port' | 'list' | 'security'
  readonly valid: FieldParser<unknown>
  /** True: empty is left out. `null`: must be present, and empty is null. Default: required. */
  readonly isOptional?: true | 'null'
  /** The initial value of a new channel. */
  readonly usual?: string
  readonly label: string
  /** Where to find the value. */
  readonly hint: string
}

interface ServiceRow {
  readonly name: string
  readonly description: string
  readonly intro: string
  readonly fields: Readonly<Record<string, ServiceField>>
  /** The fields that stand for the channel in lists; none if the address is secret. */
  readonly shown: readonly string[]
}

const mailbox = '[^\\s@<>()[\\]\\\\,;:"]{1,64}@[^\\s@<>()[\\]\\\\,;:"]{1,255}'
const recipient = line(320, {
  pattern: new RegExp(`^${mailbox}$`),
  expected: 'expected an address such as crew@venue.example',
})
const sender = line(400, {
  pattern: new RegExp(`^(?:[^<>"\\\\,;:@]*<${mailbox}>|${mailbox})$`),
  expected: 'expected an address such as mics@venue.example or Mics <mics@venue.example>',
})
const chat = line(64, { pattern: /^(-?\d+|@\w+)$/, expected: 'expected the number of a chat, or @ and its name' })
const chatId: typeof chat = (value, parseUrl) => chat(typeof value === 'number' ? String(value) : value, parseUrl)

export const notificationServiceTable = {
  email: {
    name: 'Email',
    description: 'Any mail server (SMTP).',
    intro: 'Your mail provider lists these values under SMTP or outgoing mail.',
    fields: {
      host: {
        kind: 'text',
        valid: hostName(),
        label: 'Mail server',
        hint: 'For example smtp.example.com.',
      },
      port: {
        kind: 'port',
        valid: port(),
        usual: '587',
        label: 'Port',
        hint: 'Follows the encryption unless your provider says otherwise.',
      },
      // `starttls` never sends without TLS.
      security: {
        kind: 'security',
        valid: choice(['tls', 'starttls', 'none']),
        usual: 'starttls',
        label: 'Encryption',
        hint: 'Most providers use STARTTLS.',
      },
      username: {
        kind: 'text',
        valid: line(255),
        isOptional: 'null',
        label: 'User name',
        hint: 'Usually the full email address. Leave it empty if the server needs no sign-in.',
      },
      password: {
        kind: 'secret',
        valid: line(1000),
        isOptional: 'null',
        label: 'Password',
        hint: 'With two-step verification, most providers need an app password from the security settings of the account.',
      },
      from: {
        kind: 'text',
        valid: sender,
        label: 'Sender',
        hint: 'For example micwatch@example.com. Most providers accept only the address of the account.',
      },
      to: {
        kind: 'list',
        valid: list(recipient, 50),
        label: 'Recipients',
        hint: 'One address per line. All receive the same message.',
      },
    },
    shown: ['to'],
  },
  webhook: {
    name: 'Webhook',
    description: 'Your own program receives signed JSON.',
    intro:
      'Each message is a POST request that follows Standard Webhooks. The secret that signs it is shown after saving.',
    fields: {
      url: {
        kind: 'address',
        valid: webUrl(),
        label: 'Address',
        hint: 'Where your program receives messages, for example https://example.com/micwatch.',
      },
    },
    shown: ['url'],
  },
  ntfy: {
    name: 'ntfy',
    description: 'Push messages to phones. Open source.',
    intro:
      'Install the ntfy app and subscribe to a topic. On your own server, iPhones need the Internet for instant messages.',
    fields: {
      url: {
        kind: 'address',
        valid: webUrl({ path: 'none' }),
        usual: 'https://ntfy.sh',
        label: 'Server',
        hint: 'https://ntfy.sh, or the address of your own server.',
      },
      topic: {
        kind: 'text',
        valid: line(64, { pattern: /^[-\w]+$/, expected: 'expected letters, digits, _ and -' }),
        label: 'Topic',
        hint: 'The name to which phones subscribe in the ntfy app. On ntfy.sh, anyone who knows it can read the messages, so choose one that is hard to guess.',
      },
      token: {
        kind: 'secret',
        valid: headerToken(),
        isOptional: true,
        label: 'Access token',
        hint: 'Only for a protected topic. In ntfy: Account, Access tokens, Create access token.',
      },
      username: {
        kind: 'text',
        valid: line(255, { pattern: /^[^:]+$/, expected: 'expected text without a colon' }),
        isOptional: true,
        label: 'User name',
        hint: 'Only for a protected topic, instead of an access token.',
      },
      password: {
        kind: 'secret',
        valid: line(255),
        isOptional: true,
        label: 'Password',
        hint: 'Of this user.',
      },
    },
    shown: ['url', 'topic'],
  },
  slack: {
    name: 'Slack',
    description: 'A channel in Slack.',
    intro: 'An administrator of your Slack workspace creates an incoming webhook for one channel.',
    fields: {
      url: {
        kind: 'secret',
        valid: webUrl(),
        label: 'Webhook URL',
        hint: 'At api.slack.com/apps: your app, Incoming Webhooks, Add New Webhook to Workspace, Copy.',
      },
    },
    shown: [],
  },
  teams: {
    name: 'Microsoft Teams',
    description: 'A channel or chat in Teams.',
    intro: 'Teams receives messages through a workflow. Addresses of the retired Office connectors no longer work.',
    fields: {
      url: {
        kind: 'secret',
        valid: webUrl(),
        label: 'Workflow URL',
        hint: 'In Teams: the … menu of the channel, Workflows, the template for webhook requests, Add workflow, then copy the address.',
      },
    },
    shown: [],
  },
  discord: {
    name: 'Discord',
    description: 'A text channel in Discord.',
    intro: 'You need the permission Manage Webhooks on the Discord server.',
    fields: {
      url: {
        kind: 'secret',
        valid: webUrl(),
        label: 'Webhook URL',
        hint: 'In Discord: Channel settings, Integrations, Webhooks, New Webhook, Copy Webhook URL.',
      },
    },
    shown: [],
  },
  telegram: {
    name: 'Telegram',
    description: 'A chat or group in Telegram.',
    intro: 'Messages come from a bot that you create. Add the bot to the group first.',
    fields: {
      token: {
        kind: 'secret',
        valid: line(200, { pattern: /^\d+:[\w-]+$/, expected: 'expected the token of a bot, such as 123456:ABC-DEF' }),
        label: 'Bot token',
        hint: 'In Telegram: a chat with @BotFather, /newbot. For an existing bot: /mybots, API Token.',
      },
      chat_id: {
        kind: 'text',
        valid: chatId,
        label: 'Chat ID',
        hint: 'Write a message to the bot or the group, then open https://api.telegram.org/bot<token>/getUpdates and copy “id” of “chat”. Groups have negative numbers. A public channel is @name.',
      },
      server: {
        kind: 'address',
        valid: webUrl({ path: 'no_query' }),
        isOptional: true,
        label: 'Server',
        hint: 'Only if you run your own Bot API server.',
      },
    },
    shown: ['chat_id'],
  },
  gotify: {
    name: 'Gotify',
    description: 'Push messages from your own server.',
    intro: 'Needs a Gotify server that this machine can reach.',
    fields: {
      url: {
        kind: 'address',
        valid: webUrl({ path: 'no_query' }),
        label: 'Server',
        hint: 'For example https://gotify.example.com.',
      },
      token: {
        kind: 'secret',
        valid: headerToken(),
        label: 'Application token',
        hint: 'In Gotify: Apps, Create Application, then show and copy the token.',
      },
    },
    shown: ['url'],
  },
  apprise: {
    name: 'Apprise',
    description: 'More than 100 other services, SMS included.',
    intro:
      'Needs an Apprise API server. Enter the key of a configuration that it stores, the addresses of the services, or neither if the server has a default.',
    fields: {
      url: {
        kind: 'address',
        valid: webUrl({ path: 'no_query' }),
        label: 'Server',
        hint: 'Of the Apprise API, for example http://10.0.0.5:8000.',
      },
      // A configuration of the server; without a key and `urls`, the server uses its own default.
      key: {
        kind: 'text',
        valid: line(128, { pattern: /^[\w-]+$/, expected: 'expected letters, digits, _ and -' }),
        isOptional: true,
        label: 'Configuration key',
        hint: 'The name of a configuration in the configuration manager of the server, for example apprise.',
      },
      tag: {
        kind: 'text',
        valid: line(255),
        isOptional: true,
        label: 'Tag',
        hint: 'Sends only to the services that have this tag.',
      },
      urls: {
        kind: 'secret',
        valid: line(8192),
        isOptional: true,
        label: 'Service URLs',
        hint: 'Apprise URLs such as pover://…, separated by commas.',
      },
    },
    shown: ['url'],
  },
  mqtt: {
    name: 'MQTT',
    description: 'A broker, for example of Home Assistant.',
    intro: 'Each message is published as JSON.',
    fields: {
      url: {
        kind: 'address',
        valid: webUrl({ protocols: ['mqtt:', 'mqtts:'], path: 'none' }),
        label: 'Broker',
        hint: 'For example mqtt://10.0.0.5:1883, or mqtts:// with encryption.',
      },
      topic: {
        kind: 'text',
        valid: line(65_535, {
          pattern: /^[^+#$][^+#]*$/,
          expected: 'expected a topic without + and #, and without $ at its beginning',
        }),
        usual: 'micwatch/alerts',
        label: 'Topic',
        hint: 'Where messages are published.',
      },
      username: {
        kind: 'text',
        valid: line(255),
        isOptional: true,
        label: 'User name',
        hint: 'If the broker needs a sign-in. In Home Assistant: the user for MQTT.',
      },
      password: {
        kind: 'secret',
        valid: line(1000),
        isOptional: true,
        label: 'Password',
        hint: 'Of this user.',
      },
    },
    shown: ['url', 'topic'],
  },
} as const satisfies Readonly<Record<string, ServiceRow>>

export type NotificationChannelType = keyof typeof notificationServiceTable

export const notificationChannelTypes = Object.keys(notificationServiceTable) as NotificationChannelType[]

type FieldsOf<Type extends NotificationChannelType> = (typeof notificationServiceTable)[Type]['fields']

type ValueOf<Field extends ServiceField> =
  | ReturnType<Field['valid']>
  | (Field extends { readonly isOptional: true } ? undefined : never)
  | (Field extends { readonly isOptional: 'null' } ? null : never)

/** The valid `config` of a channel. */
export type ServiceConfig<Type extends NotificationChannelType> = {
  readonly [Name in keyof FieldsOf<Type>]: FieldsOf<Type>[Name] extends ServiceField
    ? ValueOf<FieldsOf<Type>[Name]>
    : never
}

/** A service and one of its fields: `email.host`. */
export type ServiceFieldKey = {
  [Type in NotificationChannelType]: `${Type}.${keyof FieldsOf<Type> & string}`
}[NotificationChannelType]

export interface NamedServiceField extends ServiceField {
  readonly name: string
}

export function listServiceFields(type: NotificationChannelType): readonly NamedServiceField[] {
  const { fields }: ServiceRow = notificationServiceTable[type]
  return Object.entries(fields).map(([name, field]) => ({ name, ...field }))
}
