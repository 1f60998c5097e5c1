/** What was sent, newest first, with filters and pages. */

import { deliveryStatuses } from '../../src/contract/values.ts'
import { plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { usePaged } from '../app/paged.ts'
import type { Filter } from '../app/query.ts'
import { useResource } from '../app/resource.ts'
import { DataTable } from '../parts/data-table.tsx'
import { PagedList } from '../parts/paged-list.tsx'
import { channelsPath, deliveriesPath, notificationTopics, rulesPath } from './addresses.ts'
import { useAlertsOf } from './delivered-alerts.tsx'
import { deliveryColumns } from './delivery-columns.tsx'

const texts = {
  none: t('notifications.deliveries.none'),
  noneNext: t('notifications.deliveries.noneNext'),
  noMatch: t('notifications.deliveries.noMatch'),
}

const statusFilter: Filter = {
  ...{ name: 'status', label: t('notifications.columns.result'), kind: 'choice' },
  options: deliveryStatuses.map((value) => ({ value, text: t(`notifications.statuses.${value}`) })),
}

export function Deliveries() {
  const channels = useResource(channelsPath, 'list', notificationTopics).body
  const rules = useResource(rulesPath, 'list', notificationTopics).body
  const options = (channels ?? []).map(({ id, name }) => ({ value: String(id), text: plainText(name) }))
  // While the channels are loading, the one in the address is an option.
  const requested = new URLSearchParams(location.search).get('channel_id')
  if (channels === null && requested !== null) options.push({ value: requested, text: '' })
  const channelFilter: Filter = {
    ...{ name: 'channel_id', label: t('notifications.columns.channel'), kind: 'choice' },
    options,
  }
  const filters = [statusFilter, channelFilter]
  const resource = usePaged(deliveriesPath, filters, notificationTopics)
  const alerts = useAlertsOf(resource.body?.results ?? [])
  const columns = deliveryColumns({ channels: channels ?? [], rules: rules ?? [], alerts })
  return (
    <PagedList {...{ resource, filters, texts }}>
      {(deliveries) => (
        <DataTable
          caption={t('notifications.tabs.deliveries')}
          columns={columns}
          rows={deliveries}
          idOf={({ id }) => id}
        />
      )}
    </PagedList>
  )
}
