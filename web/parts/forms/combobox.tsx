/** A text field with suggestions. The field keeps the focus and has the keys. */

import './combobox.css'
import {
  type ComponentProps,
  type KeyboardEvent,
  type ReactNode,
  useCallback,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import { t } from '../../app/i18n.ts'

interface ComboboxProps<Item> extends Omit<ComponentProps<'input'>, 'children'> {
  /** Also of the list. */
  readonly label: string
  /** The text of the field. */
  readonly value: string
  readonly items: readonly Item[]
  /** Index of the item that Enter chooses until another one is selected. */
  readonly first?: number
  /** For suggestions above the page. Otherwise they are always open, below the field. */
  readonly popup?: { readonly isOpen: boolean; onToggle(isOpen: boolean): void }
  keyOf(item: Item): string
  onText(text: string): void
  onChoose(item: Item): void
  /** The content of a suggestion. */
  children(item: Item): ReactNode
}

export function Combobox<Item>({
  label,
  items,
  first = 0,
  popup,
  keyOf,
  onText,
  onChoose,
  children,
  ...input
}: ComboboxProps<Item>) {
  const id = useId()
  const field = useRef<HTMLInputElement>(null)
  // Before the next key, also where this field replaces another one.
  useLayoutEffect(() => {
    if (input.autoFocus) field.current?.focus()
  }, [input.autoFocus])
  const [moved, setMoved] = useState<number | null>(null)
  const isOpen = popup?.isOpen ?? true
  const index = Math.min(moved ?? first, items.length - 1)
  const activeId = isOpen && index >= 0 ? `${id}${index}` : undefined
  useEffect(() => {
    if (activeId !== undefined) document.getElementById(activeId)?.scrollIntoView({ block: 'nearest' })
  }, [activeId])
  const popUp = useCallback(
    (list: HTMLElement | null) => (list === null ? undefined : openBelow(field.current, list)),
    [],
  )

  const toggle = (isOpen: boolean) => {
    setMoved(null)
    popup?.onToggle(isOpen)
  }
  const choose = (item: Item | undefined) => {
    setMoved(null)
    if (item !== undefined) onChoose(item)
  }
  const press = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined && !isOpen) toggle(true)
    else if (step !== undefined) setMoved((index + step + items.length) % Math.max(1, items.length))
    else if (event.key === 'Enter' && isOpen) choose(items[index])
    else if (event.key === 'Escape' && popup?.isOpen) toggle(false)
    else return
    event.preventDefault()
  }
  const list = (
    <>
      <div className="suggestions" id={`${id}list`} role="listbox" aria-label={label}>
        {items.map((item, at) => (
          // biome-ignore lint/a11y/useFocusableInteractive lint/a11y/useKeyWithClickEvents: see the top of the file.
          <div
            key={keyOf(item)}
            id={`${id}${at}`}
            className="suggestion"
            role="option"
            aria-selected={at === index}
            onClick={() => choose(item)}
          >
            {children(item)}
          </div>
        ))}
      </div>
      <p className={items.length === 0 ? 'hint' : 'visually-hidden'} role="status">
        {items.length === 0 ? t('parts.suggestions.none') : t('parts.suggestions.found', { count: items.length })}
      </p>
    </>
  )
  return (
    <>
      <input
        type="text"
        autoComplete="off"
        maxLength={100}
        {...input}
        ref={field}
        role="combobox"
        aria-label={label}
        aria-expanded={isOpen}
        aria-controls={isOpen ? `${id}list` : undefined}
        aria-activedescendant={activeId}
        aria-autocomplete="list"
        onChange={({ target }) => {
          setMoved(null)
          onText(target.value)
        }}
        onKeyDown={press}
      />
      {popup === undefined ? list : null}
      {popup?.isOpen ? (
        <div ref={popUp} className="combobox-popup" popover="manual">
          {list}
        </div>
      ) : null}
    </>
  )
}

/** Shows a popover below the field. It follows when the page or a dialog scrolls, and never takes the focus. */
function openBelow(field: HTMLElement | null, list: HTMLElement): () => void {
  const position = () => {
    const { left = 0, bottom = 0, width = 0 } = field?.getBoundingClientRect() ?? {}
    list.style.setProperty('--left', `${left}px`)
    list.style.setProperty('--below', `${bottom}px`)
    list.style.setProperty('--field', `${width}px`)
  }
  position()
  list.showPopover()
  const closing = new AbortController()
  const { signal } = closing
  addEventListener('scroll', position, { capture: true, passive: true, signal })
  addEventListener('resize', position, { signal })
  list.addEventListener('mousedown', (event) => event.preventDefault(), { signal })
  return () => closing.abort()
}
