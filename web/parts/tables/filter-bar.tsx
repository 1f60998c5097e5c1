import { useId, useState } from 'react'
import { any, type Filter, filterValues, useSearch, type Values } from '../../app/query.ts'
import './list.css'
import { t } from '../../app/i18n.ts'
import { ChannelChoice } from '../channels/channel-choice.tsx'

export function FilterBar({ filters }: { filters: readonly Filter[] }) {
  const [search, change] = useSearch()
  /** On phones the filters are collapsed, because they would fill the screen. */
  const [isOpen, setOpen] = useState(false)
  const values = filterValues(filters, search)
  const set = (name: string, value: string) => change({ [name]: value, page: null })
  const clear = () => change({ ...Object.fromEntries(filters.map(({ name }) => [name, null])), page: null })
  const active = Object.keys(values).length
  return (
    <search className="filter-bar" aria-label={t('parts.filters.label')} data-open={isOpen}>
      <button type="button" className="choice filter-toggle" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {active === 0
          ? t('parts.filters.label')
          : t('parts.list.withCount', { action: t('parts.filters.label'), count: active })}
      </button>
      {filters.map((filter) => (
        <FilterField key={filter.name} filter={filter} values={values} onChange={set} />
      ))}
      <button type="button" className="choice" disabled={active === 0} onClick={clear}>
        {t('parts.filters.clear')}
      </button>
    </search>
  )
}

interface FilterFieldProps {
  readonly filter: Filter
  readonly values: Values
  onChange(name: string, value: string): void
}

function FilterField({ filter, values, onChange }: FilterFieldProps) {
  const id = useId()
  const { name, label, kind } = filter
  const usual = filter.kind === 'choice' ? (filter.usual ?? '') : ''
  const choose = (value: string) => onChange(name, value === usual ? '' : value)
  const field = {
    id,
    className: 'choice',
    'data-active': values[name] === undefined ? undefined : true,
    value: values[name] ?? usual,
  }
  const control = {
    ...field,
    name,
    onChange: ({ target }: { readonly target: { readonly value: string } }) => choose(target.value),
  }
  return (
    <div className="filter">
      <label htmlFor={id}>{label}</label>
      {kind === 'channel' ? (
        <ChannelChoice
          {...field}
          label={label}
          others={[{ value: '', text: t('parts.filters.any') }]}
          onChoice={choose}
        />
      ) : kind === 'choice' ? (
        <select {...control}>
          <option value={filter.usual === undefined ? '' : any}>{t('parts.filters.any')}</option>
          {filter.options.map(({ value, text }) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      ) : (
        <input {...control} type={kind === 'day' ? 'date' : 'search'} />
      )}
    </div>
  )
}
