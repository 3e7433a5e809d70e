"""Model descriptions with many variables."""

from __future__ import annotations


def large_description(count: int, wrong: bool = False) -> str:
    """`count` variables of all types: parameters, inputs, states with their derivatives, outputs. If `wrong`, all
    of them break some rule."""
    lines, outputs, derivatives, unknowns = [], [], [], []

    def add(name: str, reference: int, attributes: str, inner: str) -> int:
        if wrong:
            name, inner = f"{name[:4]} 2", inner.replace("start=", "begin=")
        lines.append(
            f'<ScalarVariable name="{name}" valueReference="{reference}" {attributes}>{inner}</ScalarVariable>'
        )
        return len(lines)

    for i in range(count // 10):
        fixed, signal = 'causality="parameter" variability="fixed"', 'variability="discrete"'
        add(f"p{i}", 10 * i, fixed, '<Real start="1" min="0" max="2" nominal="1" declaredType="Length"/>')
        add(f"n{i}", i, fixed, '<Integer start="1" min="0" max="2"/>')
        add(f"b{i}", i, fixed, '<Boolean start="true"/>')
        add(f"s{i}", i, fixed, '<String start="text"/>')
        known = add(f"u{i}", 10 * i + 1, 'causality="input"', '<Real start="0" unit="m"/>')
        state = add(f"part{i}.x", 10 * i + 2, 'initial="exact"', '<Real start="0" unit="m"/>')
        derivative = add(f"der(part{i}.x)", 10 * i + 3, "", f'<Real derivative="{state}"/>')
        output = add(f"y{i}", 10 * i + 2, 'causality="output"', '<Real unit="m"/>')
        count_output = add(f"k{i}", count + i, f'causality="output" {signal}', "<Integer/>")
        add(f"mode{i}", 2 * count + i, fixed, '<Enumeration declaredType="Mode" start="1"/>')
        outputs += [f'<Unknown index="{output}" dependencies="{state}"/>', f'<Unknown index="{count_output}"/>']
        derivatives.append(f'<Unknown index="{derivative}" dependencies="{known} {state}"/>')
        unknowns += [f'<Unknown index="{index}"/>' for index in (derivative, output, count_output)]
    parts = (("Outputs", outputs), ("Derivatives", derivatives), ("InitialUnknowns", unknowns))
    structure = "".join(f"<{name}>\n" + "\n".join(rows) + f"\n</{name}>\n" for name, rows in parts)
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="2.0" modelName="Large" guid="{{large}}" variableNamingConvention="structured">
<ModelExchange modelIdentifier="Large"/>
<UnitDefinitions><Unit name="m"><BaseUnit m="1"/></Unit></UnitDefinitions>
<TypeDefinitions>
<SimpleType name="Length"><Real unit="m"/></SimpleType>
<SimpleType name="Mode"><Enumeration><Item name="soft" value="1"/></Enumeration></SimpleType>
</TypeDefinitions>
<ModelVariables>
{chr(10).join(lines)}
</ModelVariables>
<ModelStructure>
{structure}</ModelStructure>
</fmiModelDescription>
"""
