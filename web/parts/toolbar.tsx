/** Toolbar of the monitor: groups, search, filters, sort order and commands. */

import type { RefObject } from 'react'
import { useId, useRef, useState } from 'react'
import type { Command } from '../commands.ts'
import { useServices, useWatchState } from '../context.ts'
import { t } from '../i18n.ts'
import { layouts, sorts, stateFilters, themes, type View } from '../view.ts'
import { CommandButtons, NotifyButton } from './tools.tsx'

interface ToolbarProps {
  readonly view: View
  readonly commands: readonly Command[]
  readonly searchField: RefObject<HTMLInputElement | null>
  change(view: Partial<View>): void
}

export function Toolbar({ view, commands, searchField, change }: ToolbarProps) {
  return (
    <section className="toolbar" aria-label={t('live.toolbar.label')}>
      <GroupTabs view={view} change={change} />
      <div className="toolbar-choices">
        <Search view={view} change={change} field={searchField} />
        <Choices view={view} change={change} />
        <More>
          <div className="more-compact">
            <Choices view={view} change={change} />
          </div>
          <CommandButtons commands={commands} />
          <NotifyButton />
          <Choice
            label={t('live.toolbar.theme')}
            value={view.theme}
            nameOf={(theme) => t(`live.themes.${theme}`)}
            values={themes}
            onChoice={(theme) => change({ theme })}
          />
        </More>
      </div>
    </section>
  )
}

/** The view settings, which are next to the search field, or in the menu on narrow pages. */
function Choices({ view, change }: Pick<ToolbarProps, 'view' | 'change'>) {
  return (
    <>
      <Choice
        label={t('live.toolbar.state')}
        value={view.state}
        nameOf={(state) => t(`live.states.${state}`)}
        values={stateFilters}
        onChoice={(state) => change({ state })}
      />
      <Choice
        label={t('live.toolbar.sort')}
        value={view.sort}
        nameOf={(sort) => t(`live.sorts.${sort}`)}
        values={sorts}
        onChoice={(sort) => change({ sort })}
      />
      <Manufacturers change={change} />
      <div className="toolbar-layouts">
        {layouts.map((layout) => (
          <button
            key={layout}
            type="button"
            className="choice"
            aria-pressed={view.layout === layout}
            onClick={() => change({ layout })}
          >
            {t(`live.layouts.${layout}`)}
          </button>
        ))}
      </div>
    </>
  )
}

function GroupTabs({ view, change }: Pick<ToolbarProps, 'view' | 'change'>) {
  const groups = useWatchState((watchState) => watchState.groups)
  if (groups.length === 0) return null
  const known = groups.some((group) => group.id === view.group) ? view.group : null
  return (
    <nav className="group-tabs" aria-label={t('live.toolbar.groups')}>
      {[{ id: null, title: t('live.toolbar.everything') }, ...groups].map(({ id, title }, index) => (
        <button
          key={id}
          type="button"
          className="choice"
          aria-pressed={known === id}
          onClick={() => change({ group: id })}
        >
          <bdi>{title}</bdi>{' '}
          {index > 9 ? null : (
            <span className="key" aria-hidden="true">
              {index}
            </span>
          )}
        </button>
      ))}
    </nav>
  )
}

/** The search field. It takes effect while the user types; Escape clears it. */
function Search({
  view,
  change,
  field,
}: Pick<ToolbarProps, 'view' | 'change'> & { field: ToolbarProps['searchField'] }) {
  const [text, setText] = useState(view.q)
  const type = (next: string) => {
    setText(next)
    change({ q: next.trim() })
  }
  // The search may also be changed by a link or the back button; the field then shows the new search.
  const shown = text.trim() === view.q ? text : view.q
  return (
    <input
      ref={field}
      className="choice search"
      type="search"
      aria-label={t('live.toolbar.search')}
      placeholder={t('live.toolbar.searchHint')}
      value={shown}
      maxLength={100}
      onChange={(event) => type(event.target.value)}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return
        type('')
        event.currentTarget.blur()
      }}
    />
  )
}

interface ChoiceProps<Value extends string> {
  readonly label: string
  readonly value: Value
  readonly values: readonly Value[]
  nameOf(value: Value): string
  onChoice(value: Value): void
}

function Choice<Value extends string>({ label, value, values, nameOf, onChoice }: ChoiceProps<Value>) {
  return (
    <select
      className="choice"
      aria-label={label}
      value={value}
      onChange={(event) => onChoice(event.target.value as Value)}
    >
      {values.map((item) => (
        <option key={item} value={item}>
          {nameOf(item)}
        </option>
      ))}
    </select>
  )
}

function Manufacturers({ change }: Pick<ToolbarProps, 'change'>) {
  const { manufacturer } = useServices()
  const codes = useWatchState(
    (watchState) => watchState.health?.manufacturers.map((manufacturer) => manufacturer.code).join(' ') ?? '',
  )
  const known = codes === '' ? [] : codes.split(' ')
  if (known.length < 2 && manufacturer === null) return null
  const all = manufacturer === null || known.includes(manufacturer) ? known : [...known, manufacturer]
  return (
    <Choice
      label={t('live.toolbar.manufacturer')}
      value={manufacturer ?? ''}
      values={['', ...all]}
      nameOf={(code) => (code === '' ? t('filters.all') : code)}
      onChoice={(code) => change({ manufacturer: code === '' ? null : code })}
    />
  )
}

/** The menu of further options: a native popover, which Escape or a click outside closes. */
function More({ children }: { children: React.ReactNode }) {
  const id = useId()
  const button = useRef<HTMLButtonElement>(null)
  const menu = useRef<HTMLDivElement>(null)
  /** Positions the menu below its button; the style sheet keeps it on the screen. */
  const position = () => {
    const { left, bottom } = button.current?.getBoundingClientRect() ?? { left: 0, bottom: 0 }
    menu.current?.style.setProperty('--left', `${left}px`)
    menu.current?.style.setProperty('--below', `${bottom}px`)
  }
  return (
    <>
      <button ref={button} type="button" className="choice" popoverTarget={id} aria-label={t('live.toolbar.moreLabel')}>
        {t('live.toolbar.more')}
      </button>
      <div ref={menu} className="more" id={id} popover="auto" onBeforeToggle={position}>
        {children}
      </div>
    </>
  )
}
