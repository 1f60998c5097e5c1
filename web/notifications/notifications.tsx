import { useSearch } from '../app/query.ts'
import { Shell } from '../app/shell.tsx'
import { ChoiceButtons } from '../parts/forms/choice.tsx'
import { Deliveries } from './deliveries.tsx'
import { Notifiers } from './notifiers.tsx'
import { Rules } from './rules.tsx'
import { ThisDevice } from './this-device.tsx'
import './notifications.css'
import '../parts/tables/records.css'
import { t } from '../app/i18n.ts'

const tabs = ['channels', 'rules', 'deliveries', 'device'] as const
type Tab = (typeof tabs)[number]

const contents = {
  channels: Notifiers,
  rules: Rules,
  deliveries: Deliveries,
  device: ThisDevice,
} as const satisfies Record<Tab, unknown>

export function Notifications() {
  const [search] = useSearch()
  const tab = tabs.find((name) => name === new URLSearchParams(search).get('tab')) ?? 'channels'
  const Content = contents[tab]
  return (
    <Shell title={t('notifications.title')} intro={t('notifications.intro')}>
      <Tabs tab={tab} />
      <Content />
    </Shell>
  )
}

/** Filters and order do not apply to another list. */
const nothingElse = { status: null, channel_id: null, page: null, sort: null }

function Tabs({ tab }: { tab: Tab }) {
  const [, change] = useSearch()
  return (
    <nav className="tabs" aria-label={t('notifications.title')}>
      <ChoiceButtons
        value={tab}
        values={tabs}
        nameOf={(name) => t(`notifications.tabs.${name}`)}
        onChoice={(name) => change({ ...nothingElse, tab: name === 'channels' ? null : name })}
      />
    </nav>
  )
}
