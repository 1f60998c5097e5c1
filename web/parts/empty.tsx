import type { ReactNode } from 'react'
import { t } from '../app/i18n.ts'
import { any, type Filter, filterValues, useSearch } from '../app/query.ts'
import { useChannelTitles } from './channels/channel-titles.ts'

interface EmptyProps {
  readonly title: string
  readonly filters?: readonly Filter[]
  readonly children?: ReactNode
}

export function Empty({ title, filters = [], children }: EmptyProps) {
  const [search, change] = useSearch()
  const values = filterValues(filters, search)
  const active = filters.filter(({ name }) => values[name] !== undefined)
  const channel = values[filters.find(({ kind }) => kind === 'channel')?.name ?? ''] ?? ''
  const channelTitle = useChannelTitles(channel)
  const textOf = (filter: Filter) => {
    const value = values[filter.name] ?? ''
    return filter.kind === 'channel' ? channelTitle : valueText(filter, value)
  }
  return (
    <section className="empty">
      <h2>{title}</h2>
      {active.length === 0 ? (
        children
      ) : (
        <>
          <p>
            {t('parts.activeFilters')}{' '}
            {active.map((filter) => t('parts.form.field', { name: filter.label, message: textOf(filter) })).join(' · ')}
          </p>
          <button
            type="button"
            className="action"
            onClick={() => change(Object.fromEntries(active.map(({ name }) => [name, null])))}
          >
            {t('parts.filters.clear')}
          </button>
        </>
      )}
    </section>
  )
}

function valueText(filter: Filter, value: string): string {
  if (filter.kind !== 'choice') return value
  if (value === any) return t('parts.filters.any')
  return filter.options.find((option) => option.value === value)?.text ?? value
}
