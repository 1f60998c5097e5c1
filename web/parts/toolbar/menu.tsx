import './menu.css'
import { type ReactNode, useId, useRef } from 'react'

interface MenuProps {
  /** The content of the button. */
  readonly button: ReactNode
  readonly label?: string
  readonly className?: string
  /** A sheet covers the lower part of a phone. */
  readonly isSheet?: boolean
  readonly children: ReactNode
}

/** A native popover. Escape, a click outside, or a link inside closes it. */
export function Menu({ button, label, className = 'choice', isSheet = false, children }: MenuProps) {
  const id = useId()
  const opener = useRef<HTMLButtonElement>(null)
  const menu = useRef<HTMLDivElement>(null)
  const position = () => {
    const { left, bottom } = opener.current?.getBoundingClientRect() ?? { left: 0, bottom: 0 }
    menu.current?.style.setProperty('--left', `${left}px`)
    menu.current?.style.setProperty('--below', `${bottom}px`)
  }
  return (
    <>
      <button ref={opener} type="button" className={className} popoverTarget={id} aria-label={label}>
        {button}
      </button>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the links inside take the focus. */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: Enter on a link is a click. */}
      <div
        ref={menu}
        className={isSheet ? 'sheet' : 'more'}
        id={id}
        popover="auto"
        onBeforeToggle={position}
        onClick={({ target }) => {
          if (target instanceof Element && target.closest('a') !== null) menu.current?.hidePopover()
        }}
      >
        {children}
      </div>
    </>
  )
}
